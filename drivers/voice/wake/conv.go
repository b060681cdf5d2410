package wake

// Functions marked go:norace touch only buffers of the one goroutine that owns
// an Embedder or matcher. Checked access by access they would run thirty times
// slower and put the package's own tests out of reach of the race detector.

// lanes is how many output channels the kernel computes at once. Every layer's
// channel count is a multiple of it. Three is the most that the compiler keeps
// in registers together with the products; with four sums, or two input vectors
// at a time, it spills into memory inside the loop and runs at half the speed.
const lanes = 3

// conv holds the weights of one convolution as the kernel reads them: for each
// group of lanes output channels, their weights of one input value together.
type conv struct {
	n, out int // values of one input vector (height * width * channels), output channels
	w      [][lanes]float32
	bias   []float32
	linear bool // the last layer has no activation
}

// newConv packs weights of shape [out][n].
func newConv(weights, bias []float32, n int, linear bool) *conv {
	c := &conv{n: n, out: len(weights) / n, bias: bias, linear: linear}
	c.w = make([][lanes]float32, len(weights)/lanes)
	for o := range c.out {
		for i := range n {
			c.w[o/lanes*n+i][o%lanes] = weights[o*n+i]
		}
	}
	return c
}

// grid says where input vectors lie and where their outputs go: vector (o, i)
// starts at o*inOuter + i*inInner, its channels go to base + o*outOuter + i*outInner.
// A vector may overlap the next one; that is how a kernel of three is read
// without copying.
type grid struct {
	outer, inner       int
	inOuter, inInner   int
	base               int
	outOuter, outInner int
}

// run computes every vector of the grid. Channels are the outermost loop, so
// that one group's weights stay in the first-level cache for all positions.
//
//go:norace
func (c *conv) run(in, out []float32, g *grid) {
	for k := 0; k < c.out; k += lanes {
		w := c.w[k/lanes*c.n:][:c.n]
		b0, b1, b2 := c.bias[k], c.bias[k+1], c.bias[k+2]
		for o := range g.outer {
			src := in[o*g.inOuter:]
			to := g.base + o*g.outOuter + k
			for i := range g.inner {
				x := src[i*g.inInner:][:c.n]
				r0, r1, r2 := dot(x, w)
				d := (*[lanes]float32)(out[to:])
				to += g.outInner
				if c.linear {
					d[0], d[1], d[2] = r0+b0, r1+b1, r2+b2
				} else {
					d[0], d[1], d[2] = activate(r0+b0), activate(r1+b1), activate(r2+b2)
				}
			}
		}
	}
}

// activate is a leaky ReLU of slope 0.2 that never falls below -0.4, without a
// branch: signs are too irregular for a processor to guess.
//
//go:norace
func activate(v float32) float32 { return max(v, 0.2*v, -0.4) }

// dot multiplies an input vector with the weights of one group of channels.
// This is where nine tenths of the time goes.
//
//go:norace
func dot(x []float32, w [][lanes]float32) (r0, r1, r2 float32) {
	w = w[:len(x)]
	for i, v := range x {
		k := &w[i]
		r0 += v * k[0]
		r1 += v * k[1]
		r2 += v * k[2]
	}
	return r0, r1, r2
}

package wake

// lanes is how many output channels the kernel computes at once. Every layer's
// channel count is a multiple of it.
const lanes = 4

// conv holds the weights of one convolution as the kernel reads them: for each
// group of four output channels, the four weights of one input value together.
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
// that four channels' weights stay in the first-level cache for all positions.
func (c *conv) run(in, out []float32, g *grid) {
	for k := 0; k < c.out; k += lanes {
		w := c.w[k/lanes*c.n:][:c.n]
		b := (*[lanes]float32)(c.bias[k:])
		for o := range g.outer {
			src := in[o*g.inOuter:]
			to := g.base + o*g.outOuter + k
			for i := 0; i < g.inner; i += 2 {
				x := src[i*g.inInner:][:c.n]
				y := x
				if i+1 < g.inner {
					y = src[(i+1)*g.inInner:][:c.n]
				}
				r, s := dot2x4(x, y, w)
				d := (*[lanes]float32)(out[to:])
				to += g.outInner
				c.finish(d, &r, b)
				if i+1 < g.inner {
					d = (*[lanes]float32)(out[to:])
					to += g.outInner
					c.finish(d, &s, b)
				}
			}
		}
	}
}

// finish adds the bias and applies the activation, a leaky ReLU of slope 0.2
// that never falls below -0.4.
func (c *conv) finish(to, sum, bias *[lanes]float32) {
	for j := range to {
		v := sum[j] + bias[j]
		if v < 0 && !c.linear {
			v = max(v*0.2, -0.4)
		}
		to[j] = v
	}
}

// dot2x4 multiplies two input vectors with four channels' weights: eight sums
// in registers for six loads. This is where nine tenths of the time goes.
func dot2x4(x, y []float32, w [][lanes]float32) (r, s [lanes]float32) {
	y, w = y[:len(x)], w[:len(x)]
	var r0, r1, r2, r3, s0, s1, s2, s3 float32
	for i, p := range x {
		q, k := y[i], &w[i]
		r0 += p * k[0]
		s0 += q * k[0]
		r1 += p * k[1]
		s1 += q * k[1]
		r2 += p * k[2]
		s2 += q * k[2]
		r3 += p * k[3]
		s3 += q * k[3]
	}
	return [lanes]float32{r0, r1, r2, r3}, [lanes]float32{s0, s1, s2, s3}
}

package wake

import (
	"fmt"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake/wakefile"
)

// Dim is the number of values of one embedding; there is one every speech.Frame samples.
const Dim = 96

// Layers of the network. Block 0 begins with one 3x3 convolution on the mel
// rows; in every block 1x3 (along the bands) and 3x1 (along time) convolutions
// alternate, and a maximum over two bands, and in some over two rows, ends it.
const convs = 20

// block is a run of layers with one number of rows and bands.
type block struct {
	rows, width int
	channels    int
	first       int // number of its first 1x3 layer; the 3x1 layer follows
	pairs       int // how many times 1x3 and 3x1 alternate
	poolRows    int // rows that the maximum at its end joins: 1 or 2 (bands always 2)
}

// blocks is the shape of the network for one step of eight mel rows.
var blocks = [...]block{
	{rows: 8, width: 32, channels: 24, first: 1, pairs: 1, poolRows: 2},
	{rows: 4, width: 16, channels: 48, first: 3, pairs: 2, poolRows: 1},
	{rows: 4, width: 8, channels: 72, first: 7, pairs: 2, poolRows: 2},
	{rows: 2, width: 4, channels: 96, first: 11, pairs: 2, poolRows: 1},
	{rows: 2, width: 2, channels: 96, first: 15, pairs: 2, poolRows: 2},
}

// newConvs reads and packs the twenty convolutions. Section "conv00.weight" has
// the shape [out][height][width][in], "conv00.bias" [out].
func newConvs(f *wakefile.File) (*[convs]*conv, error) {
	var c [convs]*conv
	read := func(i, in, out, height, width int) error {
		w, _, err := f.Float32(fmt.Sprintf("conv%02d.weight", i), out, height, width, in)
		if err != nil {
			return err
		}
		b, _, err := f.Float32(fmt.Sprintf("conv%02d.bias", i), out)
		if err != nil {
			return err
		}
		c[i] = newConv(w, b, height*width*in, i == convs-1)
		return nil
	}
	in := blocks[0].channels
	err := read(0, 1, in, 3, 3)
	for _, b := range blocks {
		for p := range b.pairs {
			if err == nil {
				err = read(b.first+2*p, in, b.channels, 1, 3)
			}
			if err == nil {
				err = read(b.first+2*p+1, b.channels, b.channels, 3, 1)
			}
			in = b.channels
		}
	}
	if err == nil {
		err = read(convs-1, in, Dim, 3, 1)
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// stage is one layer of a stream: the input buffer it reads and where it writes.
//
// The input of a 1x3 layer lies as [row][1+band+1][channel] with zeros at both
// ends of a row; that of a 3x1 layer as [band][2+row][channel], where the first
// two rows are the last two of the step before. So each input vector of three
// is contiguous, and neither padding nor history is copied together.
type stage struct {
	conv *conv
	grid grid
	in   []float32
	out  []float32 // the next stage's input, or pooled before it
	// history: bands whose last two rows move to the front, 0 for a 1x3 layer.
	keep, rows, channels int
	pool                 *pool
}

// pool takes the maximum of 2 bands and 1 or 2 rows into the next stage's input.
type pool struct {
	rows, width, channels, height int
	out                           []float32
	grid                          grid // of the output: base, outOuter (row), outInner (band)
}

// Embedder turns a stream of sound into embeddings, one for every
// speech.Frame samples, each of the 775 ms that end with it. It allocates
// nothing after it was made. It is used by one goroutine; any number of
// Embedders share one Model.
//
// The first nine embeddings after New or Reset still contain the silence before
// the stream.
type Embedder struct {
	mel    melStream
	rows   [stepRows + 2][bands + 2]float32 // mel rows with history and zero borders
	cols   []float32                        // the 3x3 windows of all positions
	first  stage
	stages []*stage
	out    []float32
}

// NewEmbedder returns an Embedder at the beginning of a stream.
func (m *Model) NewEmbedder() *Embedder {
	e := &Embedder{}
	e.mel.t = m.mel
	c := m.convs
	b0 := blocks[0]
	e.cols = make([]float32, stepRows*bands*9)
	wide := func(rows, width, ch int) []float32 { return make([]float32, rows*(width+2)*ch) }
	wideGrid := func(g grid, width, ch int) grid {
		g.base, g.outOuter, g.outInner = ch, (width+2)*ch, ch
		return g
	}
	next := wide(b0.rows, b0.width, b0.channels)
	e.first = stage{conv: c[0], in: e.cols, out: next,
		grid: wideGrid(grid{outer: b0.rows, inner: b0.width, inOuter: b0.width * 9, inInner: 9}, b0.width, b0.channels)}
	in := b0.channels
	for bi, b := range blocks {
		for p := range b.pairs {
			deep := make([]float32, b.width*(b.rows+2)*b.channels)
			e.stages = append(e.stages, &stage{conv: c[b.first+2*p], in: next, out: deep,
				grid: grid{outer: b.rows, inner: b.width, inOuter: (b.width + 2) * in, inInner: in,
					base: 2 * b.channels, outOuter: b.channels, outInner: (b.rows + 2) * b.channels}})
			in = b.channels
			s := &stage{conv: c[b.first+2*p+1], in: deep, keep: b.width, rows: b.rows, channels: in,
				grid: grid{outer: b.width, inner: b.rows, inOuter: (b.rows + 2) * in, inInner: in}}
			e.stages = append(e.stages, s)
			if p < b.pairs-1 {
				next = wide(b.rows, b.width, in)
				s.out = next
				s.grid.base, s.grid.outOuter, s.grid.outInner = in, in, (b.width+2)*in
				continue
			}
			s.out = make([]float32, b.rows*b.width*in)
			s.grid.outOuter, s.grid.outInner = in, b.width*in
			s.pool = &pool{rows: b.rows, width: b.width, channels: in, height: b.poolRows}
			if bi == len(blocks)-1 {
				next = make([]float32, 3*in) // the last layer's two rows of history and one new
				s.pool.grid.base = 2 * in
			} else {
				w := b.width / 2
				next = wide(b.rows/b.poolRows, w, in)
				s.pool.grid = wideGrid(grid{}, w, in)
			}
			s.pool.out = next
		}
	}
	e.out = make([]float32, Dim)
	e.stages = append(e.stages, &stage{conv: c[convs-1], in: next, out: e.out, keep: 1, rows: 1, channels: in,
		grid: grid{outer: 1, inner: 1}})
	e.Reset()
	return e
}

// Reset returns to the beginning of a stream.
func (e *Embedder) Reset() {
	e.mel.reset()
	e.rows = [len(e.rows)][bands + 2]float32{}
	for _, s := range e.stages {
		clear(s.in)
	}
}

// copyFrom puts e where o is in its stream.
func (e *Embedder) copyFrom(o *Embedder) {
	e.mel.x, e.rows = o.mel.x, o.rows
	for i, s := range e.stages {
		copy(s.in, o.stages[i].in)
	}
}

// Step takes the next speech.Frame samples and returns the embedding that ends
// with them. The result is valid until the next call.
func (e *Embedder) Step(samples []int16) []float32 {
	return e.embed(e.mel.step(samples[:speech.Frame]))
}

//go:norace
func (e *Embedder) embed(mel []float32) []float32 {
	e.rows[0], e.rows[1] = e.rows[stepRows], e.rows[stepRows+1]
	for r := range stepRows {
		copy(e.rows[r+2][1:], mel[r*bands:(r+1)*bands])
	}
	for r := range stepRows {
		for x := range bands {
			c := e.cols[(r*bands+x)*9:][:9]
			for y := range 3 {
				copy(c[y*3:y*3+3], e.rows[r+y][x:x+3])
			}
		}
	}
	e.first.run()
	for _, s := range e.stages {
		s.run()
	}
	return e.out
}

func (s *stage) run() {
	s.conv.run(s.in, s.out, &s.grid)
	n := s.channels
	for x := range s.keep {
		band := s.in[x*(s.rows+2)*n:][:(s.rows+2)*n]
		copy(band[:2*n], band[s.rows*n:])
	}
	if s.pool != nil {
		s.pool.run(s.out)
	}
}

//go:norace
func (p *pool) run(in []float32) {
	n := p.channels
	for r := range p.rows / p.height {
		for x := range p.width / 2 {
			a := in[(r*p.height*p.width+2*x)*n:][:2*n]
			z := a
			if p.height == 2 {
				z = in[((r*2+1)*p.width+2*x)*n:][:2*n]
			}
			to := p.out[p.grid.base+r*p.grid.outOuter+x*p.grid.outInner:][:n]
			for k := range to {
				to[k] = max(max(a[k], a[n+k]), max(z[k], z[n+k]))
			}
		}
	}
}

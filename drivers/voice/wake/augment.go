package wake

import (
	"math"
	"math/rand/v2"

	"homeagent/drivers/voice/speech"
)

const (
	// lead is the sound in front of a word that an embedding still sees.
	lead = rate
	// tail is what is kept behind a word's end.
	tail = 3 * rate / 10
	// templateStart and templateEnd cut a template out of a take: from the first
	// embedding that ends this long after the word's start, when enough of the
	// word is in its window, to the last that ends this long after the word's end.
	templateStart = rate / 4
	templateEnd   = rate / 10
)

// variant is one way to say a take again.
type variant struct {
	speed float64 // 1 is as it was; 1.05 is 5 % faster and higher
	gain  float64 // decibels
	shift int     // samples of delay against the grid of embeddings
	snr   float64 // decibels of the word over the noise; quiet for none
	color float64 // of the noise: 0 white to 1 brown; babble for voices
	// around is how loud somebody speaks right before and after the word, in
	// decibels over the word; quiet for nobody.
	around float64
	seed   uint64
}

const (
	quiet  = 99.0
	babble = 2.0
)

// spoken is a take's word, ready to be varied.
type spoken struct {
	pcm   []int16 // the whole take
	word  span
	floor float64 // level of its quiet parts, decibels over one step
}

// render returns the variant as sound: lead, the word, tail. The word's place is
// returned with it.
func (s *spoken) render(v variant, voices []int16) ([]int16, span) {
	r := rand.New(rand.NewPCG(v.seed, 7))
	n := int(float64(s.word.len()) / v.speed)
	out := make([]float64, v.shift+lead+n+tail)
	w := span{v.shift + lead, v.shift + lead + n}
	gain := math.Pow(10, v.gain/20)
	room := math.Pow(10, min(s.floor, 40)/20) // what the take's own room sounded like
	for i := range out {
		// Around the word the take itself goes on, where it is long enough.
		at := float64(s.word.start) + float64(i-w.start)*v.speed
		k := int(math.Floor(at))
		if k < 0 || k+1 >= len(s.pcm) {
			out[i] = gain * room * r.NormFloat64()
			continue
		}
		f := at - float64(k)
		out[i] = gain * (float64(s.pcm[k])*(1-f) + float64(s.pcm[k+1])*f)
	}
	power := 0.0
	for _, x := range out[w.start:w.end] {
		power += x * x
	}
	level := math.Sqrt(power / float64(n))
	if v.around < quiet {
		speak(out, w, level*math.Pow(10, v.around/20), voices, r)
	}
	if v.snr < quiet {
		mix(out, level*math.Pow(10, -v.snr/20), v.color, voices, r)
	}
	pcm := make([]int16, len(out))
	for i, x := range out {
		pcm[i] = int16(max(-32768, min(32767, math.Round(x))))
	}
	return pcm, w
}

// speak replaces what lies before and after a word by somebody's speech, up to
// a short pause.
func speak(out []float64, w span, level float64, voices []int16, r *rand.Rand) {
	level /= rms(voices)
	gap := rate/50 + r.IntN(rate/16)
	at := r.IntN(len(voices))
	for i := range out {
		if i < w.start-gap || i >= w.end+gap {
			out[i] = level * float64(voices[(at+i)%len(voices)])
		}
	}
}

// mix adds noise of the given root mean square to a sound.
func mix(out []float64, level, color float64, voices []int16, r *rand.Rand) {
	if color == babble { // five voices at once, each somewhere else in its text
		const people = 5
		level /= rms(voices) * math.Sqrt(people)
		n := len(voices)
		var at [people]int
		for p := range at {
			at[p] = p*n/people + r.IntN(n/people)
		}
		for i := range out {
			for p := range at {
				out[i] += level * float64(voices[(at[p]+i)%n])
			}
		}
		return
	}
	a, y := 0.98*color, 0.0
	for i := range out {
		y = a*y + math.Sqrt(1-a*a)*r.NormFloat64()
		out[i] += level * y
	}
}

func rms(pcm []int16) float64 {
	sum := 1.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}

// embedded is a rendered variant as whitened embeddings.
type embedded struct {
	rows        []float32
	first, last int // the rows of a template: [first, last]
}

// template returns the rows that stand for the word.
func (e *embedded) template() []float32 { return e.rows[e.first*Dim : (e.last+1)*Dim] }

// stackAt fills a stack whose newest embedding is row i.
func (e *embedded) stackAt(i int, x []float32) {
	copy(x, e.rows[(i-stackRows+1)*Dim:(i+1)*Dim])
}

// embedSpoken renders and embeds a variant.
func embedSpoken(m *Model, b *Bank, s *spoken, v variant) embedded {
	pcm, w := s.render(v, b.voices)
	e := m.NewEmbedder()
	n := len(pcm) / speech.Frame
	out := embedded{rows: make([]float32, n*Dim)}
	for i := range n {
		b.white.apply(e.Step(pcm[i*speech.Frame:]), out.rows[i*Dim:])
	}
	out.first = (w.start+templateStart+speech.Frame-1)/speech.Frame - 1
	out.last = min(n-1, (w.end+templateEnd)/speech.Frame-1)
	return out
}

// variants lists how each take is said again. The first copies become
// templates, all of them examples for the regression.
func variants(take int) []variant {
	r := rand.New(rand.NewPCG(uint64(take), 11))
	v := []variant{
		{speed: 1, snr: quiet, around: quiet},
		{speed: 1, snr: 10, color: 0.8, around: quiet, shift: speech.Frame / 2, seed: r.Uint64()},
		{speed: 1, snr: 10, color: babble, around: quiet, seed: r.Uint64()},
		{speed: 1, snr: quiet, around: -2, shift: speech.Frame / 2, seed: r.Uint64()},
	}
	for i := len(v); i < variantsPerTake; i++ {
		x := variant{
			speed: 0.93 + 0.14*r.Float64(),
			gain:  -18 + 24*r.Float64(),
			shift: r.IntN(speech.Frame),
			snr:   20 * r.Float64(), color: r.Float64() * 1.5, around: quiet, seed: r.Uint64(),
		}
		if x.color > 1 {
			x.color = babble
		}
		switch i % 4 {
		case 0:
			x.snr = quiet
		case 1:
			x.snr, x.around = quiet, 4-10*r.Float64()
		}
		v = append(v, x)
	}
	return v
}

const (
	templatesPerTake = 4
	variantsPerTake  = 16
)

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const rate = 16000

// voice is one speaker's recordings.
type voice struct {
	name, pkg, licence string
	// dir is searched for recordings; a folder "silence" in it is left out.
	dir string
}

// voices are in an order that keeps the one who speaks two languages in one
// half, because an enrolment learns from one half and is tried on the other.
var voices = []voice{
	{"en", "asterisk-core-sounds-en-wav", "Allison Smith, CC BY-SA 3.0", "/usr/share/asterisk/sounds/en"},
	{"es", "asterisk-core-sounds-es-wav", "Allison Smith, CC BY-SA 3.0", "/usr/share/asterisk/sounds/es"},
	{"fr", "asterisk-core-sounds-fr-wav", "June Wallack, CC BY-SA 3.0", "/usr/share/asterisk/sounds/fr"},
	{"it", "asterisk-core-sounds-it-wav", "Carlo Flora, CC BY-SA 3.0", "/usr/share/asterisk/sounds/it"},
	{"ru", "asterisk-core-sounds-ru-wav", "Maxim Topal, CC BY 3.0", "/usr/share/asterisk/sounds/ru"},
}

// missingError is a package that is not installed.
type missingError struct{ pkg, dir string }

func (e *missingError) Error() string {
	return fmt.Sprintf("no recordings in %s: install the package %s (tools/setup does)", e.dir, e.pkg)
}

// prompts returns a voice's recordings of at least half a second, in the order
// of a hash of their names, until they last as long as wanted. Longer is fine.
func prompts(v voice, seconds float64) ([][]int16, error) {
	dir, err := filepath.EvalSymlinks(v.dir)
	if err != nil {
		return nil, &missingError{v.pkg, v.dir}
	}
	type file struct{ key, path string }
	var files []file
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "silence" {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".wav" {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		sum := sha256.Sum256([]byte(filepath.ToSlash(rel)))
		files = append(files, file{string(sum[:]), path})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.key, b.key) })
	var out [][]int16
	total := 0
	for _, f := range files {
		if total >= int(seconds*rate) {
			break
		}
		data, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		pcm, err := readWAV(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		if len(pcm) < rate/2 {
			continue
		}
		out = append(out, pcm)
		total += len(pcm)
	}
	if len(out) == 0 {
		return nil, &missingError{v.pkg, v.dir}
	}
	return out, nil
}

// levels are the loudnesses at which prompts follow each other: decibels below
// full scale of the mean power, from close talk to across a room.
var levels = []float64{-22, -30, -38, -46}

// stream joins prompts to running speech with short pauses in room noise.
func stream(prompts [][]int16, seed uint64) []int16 {
	r := rand.New(rand.NewPCG(seed, 0))
	var out []int16
	n := &noise{r: r}
	for i, p := range prompts {
		gain := math.Pow(10, (levels[i%len(levels)]-decibels(p))/20)
		room := math.Pow(10, (levels[i%len(levels)]-42)/20) * 32768
		if i%4 == 3 { // 6 to 18 dB below the voice
			room = math.Pow(10, (levels[i/4%len(levels)]-6-12*r.Float64())/20) * 32768
			gain = math.Pow(10, (levels[i/4%len(levels)]-decibels(p))/20)
		}
		n.colour = r.Float64()
		for range 2400 + r.IntN(4800) {
			out = append(out, clip(room*n.next()))
		}
		for _, s := range p {
			out = append(out, clip(gain*float64(s)+room*n.next()))
		}
	}
	return out
}

// decibels is the mean power below full scale.
func decibels(pcm []int16) float64 {
	sum := 1.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return 10 * math.Log10(sum/float64(len(pcm))/(32768*32768))
}

// noise makes sound of about unit power between white (colour 0) and brown (1).
type noise struct {
	r      *rand.Rand
	colour float64
	y      float64
}

func (n *noise) next() float64 {
	a := 0.98 * n.colour
	n.y = a*n.y + math.Sqrt(1-a*a)*n.r.NormFloat64()
	return n.y
}

// noises is a stream without speech: noise of changing colour and level, hum,
// tones and clicks.
func noises(seconds int) []int16 {
	r := rand.New(rand.NewPCG(77, 0))
	n := &noise{r: r}
	out := make([]int16, 0, seconds*rate)
	for len(out) < seconds*rate {
		n.colour = r.Float64()
		level := math.Pow(10, (-20-60*r.Float64())/20) * 32768
		tone, share := 50*math.Pow(2, 6*r.Float64()), r.Float64()*r.Float64()
		click := r.IntN(3) == 0
		for i := range 2 * rate {
			v := (1-share)*n.next() + share*math.Sin(2*math.Pi*tone*float64(i)/rate)
			if click && r.IntN(rate/2) == 0 {
				v += 8
			}
			out = append(out, clip(level*v))
		}
	}
	return out
}

// voicesFor returns some seconds of every voice, one after the other, at one
// level and without the silence around prompts.
func voicesFor(all [][][]int16, seconds int) []int16 {
	var out []int16
	for _, prompts := range all {
		want := len(out) + seconds*rate
		for _, p := range prompts {
			gain := math.Pow(10, (-24-decibels(p))/20)
			quiet := rate / 10 // of samples in a row below a hundredth of full scale
			silent := 0
			for _, s := range p {
				if v := gain * float64(s); math.Abs(v) < 330 {
					silent++
				} else {
					silent = 0
				}
				if silent < quiet && len(out) < want {
					out = append(out, clip(gain*float64(s)))
				}
			}
			if len(out) == want {
				break
			}
		}
	}
	return out
}

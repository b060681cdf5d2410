package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"homeagent/drivers/voice/wake"
)

// Options choose how much is tried.
type Options struct {
	// Takes is the number of recordings a word is learned from.
	Takes int
	// Every takes each n-th speaker, MostClips at most so many recordings of one
	// (0: all), MostStrangers at most so many seconds of strangers' speech (0: all).
	Every, MostClips int
	MostStrangers    float64
	// Log, if not nil, is told about every speaker.
	Log func(format string, args ...any)
}

// Count is how often something was tried and how often it went wrong.
type Count struct{ Wrong, N int }

// Result is the outcome of a trial.
type Result struct {
	Miss map[Condition]Count
	// False are wakes by strangers' speech, Hours how long it was heard, summed over words.
	False int
	Hours float64
	// Late are seconds from the word's end to its hit, clean and in order.
	Late []float64
	// Words were learned, Refused were not.
	Words, Refused int
}

// Run tries every speaker of a corpus. The first good recordings of each are
// the takes; a recording that enrolment judges unfit is passed over, as a person
// would be asked to say it again.
func Run(ctx context.Context, m *wake.Model, b *wake.Bank, c *Corpus, o Options) (*Result, error) {
	s, err := newScene(ctx, c)
	if err != nil {
		return nil, err
	}
	res := &Result{Miss: map[Condition]Count{}}
	var words []*wake.Word
	names := c.Names()
	for i := 0; i < len(names); i += max(1, o.Every) {
		clips := c.Speakers[names[i]]
		w, rest, err := enrol(ctx, m, b, c, names[i], clips, o.Takes)
		var refused *wake.TakesError
		if errors.As(err, &refused) {
			res.Refused++
			o.log("%s: not learned: %v", names[i], err)
			continue
		}
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		if o.MostClips > 0 {
			rest = rest[:min(o.MostClips, len(rest))]
		}
		missed, err := res.tryWord(ctx, m, w, c, s, rest)
		if err != nil {
			return nil, err
		}
		o.log("%s: %d recordings, missed %v", names[i], len(rest), missed)
	}
	res.Words = len(words)
	if len(words) == 0 {
		return nil, errors.New("no word was learned")
	}
	return res, res.tryStrangers(ctx, m, words, c, o)
}

func (o *Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

func enrol(ctx context.Context, m *wake.Model, b *wake.Bank, c *Corpus, name string, clips []Clip, want int) (*wake.Word, []Clip, error) {
	var takes [][]int16
	var last error
	for i, clip := range clips {
		pcm, err := c.Read(ctx, clip.File)
		if err != nil {
			return nil, nil, err
		}
		takes = append(takes, pcm)
		if len(takes) < want {
			continue
		}
		w, report, err := wake.Enrol(ctx, m, b, name, takes)
		if err == nil && report.Good() >= want {
			return w, clips[i+1:], nil
		}
		if last = err; err != nil && !errors.As(err, new(*wake.TakesError)) {
			return nil, nil, err
		}
	}
	if last == nil {
		last = &wake.TakesError{}
	}
	return nil, nil, fmt.Errorf("%s: %w", name, last)
}

// tryWord plays recordings to a word and counts those that do not wake it
// between the word's beginning and half a second after its end.
func (r *Result) tryWord(ctx context.Context, m *wake.Model, w *wake.Word, c *Corpus, s *scene, clips []Clip) (map[Condition]int, error) {
	missed := map[Condition]int{}
	d, err := wake.NewDetector(m, w)
	if err != nil {
		return nil, err
	}
	for _, clip := range clips {
		pcm, err := c.Read(ctx, clip.File)
		if err != nil {
			return nil, err
		}
		for _, how := range Conditions {
			sound, start, end := s.render(clip, pcm, how)
			d.Reset()
			heard := -1
			for at := 0; at+frame <= len(sound); at += frame {
				now := at + frame
				if hits := d.Accept(sound[at:now]); len(hits) > 0 && now > start && now < end+rate/2 && heard < 0 {
					heard = now
				}
			}
			n := r.Miss[how]
			n.N++
			if heard < 0 {
				n.Wrong++
				missed[how]++
			} else if how == Clean {
				r.Late = append(r.Late, float64(heard-end)/rate)
			}
			r.Miss[how] = n
		}
	}
	return missed, nil
}

// frame is 80 ms, the step at which a detector decides.
const frame = 1280

// tryStrangers plays strangers' speech to all words at once.
func (r *Result) tryStrangers(ctx context.Context, m *wake.Model, words []*wake.Word, c *Corpus, o Options) error {
	left := int(o.MostStrangers * rate)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for _, file := range c.Strangers {
		slots <- struct{}{} // at most one decoded file a processor
		pcm, err := c.Read(ctx, file)
		if err != nil {
			failed = err
			break
		}
		if o.MostStrangers > 0 {
			if left <= 0 {
				break
			}
			pcm = pcm[:min(left, len(pcm))]
			left -= len(pcm)
		}
		wg.Go(func() {
			defer func() { <-slots }()
			d, err := wake.NewDetector(m, words...)
			n := 0
			if err == nil {
				for at := 0; at < len(pcm) && ctx.Err() == nil; at += rate {
					n += len(d.Accept(pcm[at:min(len(pcm), at+rate)]))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			r.False += n
			r.Hours += float64(len(pcm)) / rate / 3600 * float64(len(words))
		})
	}
	wg.Wait()
	return errors.Join(failed, ctx.Err())
}

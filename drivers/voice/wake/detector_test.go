package wake_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake"
	"homeagent/drivers/voice/wake/wakefile"
	"homeagent/drivers/voice/wake/waketest"
)

// TestSyntheticWord goes the whole way with flite's voices: three takes, a word
// that is kept and read back, and a stream in which it occurs. Synthetic speech
// is not how people speak; what people miss is measured elsewhere.
func TestSyntheticWord(t *testing.T) {
	m, bank := waketest.Model(t), waketest.Bank(t)
	learned, report, err := wake.Enrol(t.Context(), m, bank, "computer", waketest.Takes(t, "computer"))
	if err != nil {
		t.Fatal(err)
	}
	if report.Good() != 3 || report.Text("en") == "" {
		t.Errorf("report %+v: %s", report, report.Text("en"))
	}
	again, _, err := wake.Enrol(t.Context(), m, bank, "computer", waketest.Takes(t, "computer"))
	if err != nil || !bytes.Equal(again.Marshal(), learned.Marshal()) {
		t.Errorf("the same takes gave another word, %v", err)
	}
	word, err := wake.Unmarshal(learned.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	open := func() *wake.Detector {
		d, err := wake.NewDetector(m, word)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	silence := make([]int16, 8000)
	before := waketest.Say(t, "please tell me something about the weather", "slt", "1", "")
	call := waketest.Say(t, "computer", "slt", "1.05", "")
	after := waketest.Say(t, "turn on the lamp in the living room", "slt", "1", "")
	stream := join(silence, before, silence, call, after, silence)
	start, end := len(silence)*2+len(before), len(silence)*2+len(before)+len(call)

	t.Run("is heard once, in its place", func(t *testing.T) {
		hits := open().Accept(stream)
		if len(hits) != 1 {
			t.Fatalf("hits %+v, want one", hits)
		}
		// flite ends a word with up to a fifth of a second of silence.
		if h := hits[0]; h.Word != "computer" || h.Score < 0 || h.End < int64(start+4000) || h.End > int64(end+4000) {
			t.Errorf("hit %+v, the word lies in %d..%d", h, start, end)
		}
	})
	t.Run("is heard at the very beginning", func(t *testing.T) {
		d := open()
		for _, when := range []string{"new", "after Reset"} {
			if hits := d.Accept(join(call, silence)); len(hits) != 1 {
				t.Errorf("%s: hits %+v, want one", when, hits)
			}
			d.Reset()
		}
	})
	t.Run("any cut of the stream gives the same", func(t *testing.T) {
		want := open().Accept(stream)
		for _, size := range []int{1, 160, 777, speech.Frame, 5000} {
			d := open()
			var got []speech.Hit
			for s := stream; len(s) > 0; s = s[min(size, len(s)):] {
				got = append(got, d.Accept(s[:min(size, len(s))])...)
			}
			if len(got) != len(want) || got[0] != want[0] {
				t.Errorf("pieces of %d: %+v, whole: %+v", size, got, want)
			}
		}
	})
	t.Run("twice said is twice heard", func(t *testing.T) {
		pause := make([]int16, 24000)
		if hits := open().Accept(join(stream, pause, stream)); len(hits) != 2 {
			t.Errorf("hits %+v, want two", hits)
		}
	})
	t.Run("positions go on through Reset", func(t *testing.T) {
		d := open()
		d.Accept(stream[:end-100])
		d.Reset()
		if hits := d.Accept(make([]int16, 16000)); len(hits) != 0 {
			t.Errorf("after Reset in the middle of the word: %+v", hits)
		}
		hits := d.Accept(stream)
		if len(hits) != 1 || hits[0].End < int64(end-100+16000+start) {
			t.Errorf("hits %+v", hits)
		}
	})
	t.Run("other speech does not wake it", func(t *testing.T) {
		d := open()
		for _, voice := range []string{"slt", "rms", "kal16"} {
			for _, text := range []string{"turn on the living room lamp", "what time is it",
				"he was not an ill disposed young man", "the company put a commuter in the queue"} {
				if hits := d.Accept(join(waketest.Say(t, text, voice, "1", ""), silence)); len(hits) != 0 {
					t.Errorf("%q by %s: %+v", text, voice, hits)
				}
			}
		}
	})
	t.Run("listening allocates nothing", func(t *testing.T) {
		d := open()
		frame := before[:speech.Frame]
		if n := testing.AllocsPerRun(20, func() { d.Accept(frame) }); n != 0 {
			t.Errorf("%v allocations a frame", n)
		}
	})
	t.Run("recordings of other words do not wake it", func(t *testing.T) {
		dir := waketest.Audio(t)
		files, _ := filepath.Glob(filepath.Join(dir, "*", "*.wav"))
		for _, f := range files {
			if hits := open().Accept(waketest.Decode(t, f)); len(hits) != 0 {
				t.Errorf("%s: %+v", filepath.Base(f), hits)
			}
		}
		t.Logf("%d recordings", len(files))
	})
}

func TestEnrolRefuses(t *testing.T) {
	m, bank := waketest.Model(t), waketest.Bank(t)
	takes := waketest.Takes(t, "computer")
	other := waketest.Say(t, "hippopotamus", "kal16", "1.2", "")
	quiet := make([]int16, 16000)
	tests := []struct {
		name, word string
		takes      [][]int16
		problems   []wake.Problem // nil: refused before any take was judged
		zh, en     string
	}{
		{"two takes", "computer", takes[:2], []wake.Problem{"", ""}, "", "2 of 2 takes can be used, 3 are needed"},
		{"a silent take", "computer", [][]int16{takes[0], quiet, takes[1]},
			[]wake.Problem{"", wake.NoSpeech, ""}, "第 2 遍：没有听到说话", "Take 2: no speech"},
		{"another word", "computer", [][]int16{takes[0], takes[1], other},
			[]wake.Problem{"", "", wake.Unlike}, "第 3 遍：和另外几遍不像", "Take 3: unlike"},
		{"no takes", "computer", nil, []wake.Problem{}, "", "0 of 0"},
		{"no name", "", takes, nil, "", "name"},
		{"too many takes", "computer", make([][]int16, 21), nil, "", "21 takes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, r, err := wake.Enrol(t.Context(), m, bank, tt.word, tt.takes)
			if w != nil || err == nil {
				t.Fatal("a word was learned")
			}
			if !strings.Contains(err.Error(), tt.en) {
				t.Errorf("error %q does not say %q", err, tt.en)
			}
			var refused *wake.TakesError
			if errors.As(err, &refused) != (tt.problems != nil) {
				t.Errorf("error of type %T", err)
			}
			for i, want := range tt.problems {
				if r.Takes[i].Problem != want {
					t.Errorf("take %d: %q, want %q", i+1, r.Takes[i].Problem, want)
				}
			}
			if !strings.Contains(r.Text("zh-CN"), tt.zh) {
				t.Errorf("report %q does not say %q", r.Text("zh-CN"), tt.zh)
			}
		})
	}
}

func TestEnrolStopsWithItsContext(t *testing.T) {
	m, bank := waketest.Model(t), waketest.Bank(t)
	takes := waketest.Takes(t, "computer")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := wake.Enrol(ctx, m, bank, "computer", takes); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestMissingAndDamagedModels(t *testing.T) {
	dir := t.TempDir()
	missing := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, speech.ErrMissing) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "tools/setup") {
			t.Errorf("error %v", err)
		}
	}
	_, err := wake.LoadModel(dir)
	missing(wake.EmbeddingFile, err)
	_, err = wake.LoadBank(dir)
	missing(wake.BankFile, err)

	if err := os.MkdirAll(filepath.Join(dir, "wake"), 0o755); err != nil {
		t.Fatal(err)
	}
	wrong := (&wakefile.File{Kind: wakefile.Embedding, Version: 1}).Encode()
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"garbage", bytes.Repeat([]byte("x"), 5000)},
		{"cut short", wrong[:len(wrong)-3]},
		{"without its arrays", wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "wake", wake.EmbeddingFile), tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := wake.LoadModel(dir); !errors.Is(err, wakefile.ErrDamaged) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func join(parts ...[]int16) []int16 {
	var out []int16
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

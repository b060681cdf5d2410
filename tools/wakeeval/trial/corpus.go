package trial

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const rate = 16000

// Clip is one recording of a word.
type Clip struct {
	File, Keyword, Speaker string
	// Start and End are where the word lies, in seconds.
	Start, End float64
}

// Corpus is a folder of recordings.
type Corpus struct {
	dir string
	// Speakers are the words by who says them: clips in the manifest's order.
	Speakers map[string][]Clip
	// Strangers is speech without the words, Noises what a household sounds like.
	Strangers, Noises []string
}

// Open reads a corpus's manifest.
func Open(dir string) (*Corpus, error) {
	f, err := os.Open(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &Corpus{dir: dir, Speakers: map[string][]Clip{}}
	in := bufio.NewScanner(f)
	var columns []string
	for line := 1; in.Scan(); line++ {
		cells := strings.Split(in.Text(), "\t")
		if columns == nil {
			columns = cells
			continue
		}
		get := func(name string) string {
			if i := slices.Index(columns, name); i >= 0 && i < len(cells) {
				return cells[i]
			}
			return ""
		}
		file, speaker := get("file"), get("speaker")
		switch get("kind") {
		case "positive":
			if speaker == "" {
				continue
			}
			start, err1 := strconv.ParseFloat(get("word_start_s"), 64)
			end, err2 := strconv.ParseFloat(get("word_end_s"), 64)
			if err1 != nil || err2 != nil || end <= start {
				return nil, fmt.Errorf("manifest.tsv line %d: no place of the word", line)
			}
			c.Speakers[speaker] = append(c.Speakers[speaker], Clip{file, get("keyword"), speaker, start, end})
		case "negative":
			if !strings.HasPrefix(speaker, "ast") {
				c.Strangers = append(c.Strangers, file)
			}
		case "noise":
			c.Noises = append(c.Noises, file)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(c.Speakers) == 0 || len(c.Strangers) == 0 || len(c.Noises) == 0 {
		return nil, fmt.Errorf("%s: manifest.tsv has no words, no other speech or no noise", dir)
	}
	return c, nil
}

// Names lists the speakers in order.
func (c *Corpus) Names() []string {
	var names []string
	for s := range c.Speakers {
		names = append(names, s)
	}
	slices.Sort(names)
	return names
}

// Read decodes one of the corpus's files.
func (c *Corpus) Read(ctx context.Context, file string) ([]int16, error) {
	return Decode(ctx, filepath.Join(c.dir, file))
}

// Decode reads a recording of any format as 16 kHz mono, through ffmpeg.
func Decode(ctx context.Context, path string) ([]int16, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-i", path,
		"-f", "s16le", "-ar", strconv.Itoa(rate), "-ac", "1", "-")
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("decode %s: %w %s", path, err, complaint.String())
	}
	b := out.Bytes()
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm, nil
}

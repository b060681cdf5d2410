package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake"
	"homeagent/memory/disk"
)

func main() {
	models := flag.String("models", "", "models `folder`; the bank goes to its folder wake")
	minutes := flag.Float64("minutes", 13, "sound of each language, in `minutes`")
	flag.Parse()
	if *models == "" || flag.NArg() != 0 || !(*minutes > 0) {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*models, *minutes); err != nil {
		fmt.Fprintln(os.Stderr, "wakebank:", err)
		os.Exit(1)
	}
}

const (
	noiseSeconds = 180 // the group without speech
	voiceSeconds = 4   // of each voice, kept as sound
)

func run(models string, minutes float64) error {
	model, err := wake.LoadModel(models)
	if err != nil {
		return err
	}
	streams := make([][]int16, len(voices)+1)
	sources := make([]wake.BankSource, len(voices)+1)
	var all [][][]int16
	for i, v := range voices {
		p, err := prompts(v, minutes*60)
		if err != nil {
			return err
		}
		all = append(all, p)
		sources[i] = wake.BankSource{Name: v.name, Speech: true}
		streams[i] = stream(p, uint64(i))
	}
	sources[len(voices)].Name = "noise"
	streams[len(voices)] = noises(noiseSeconds)

	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() { sources[i].Rows = embed(model, streams[i]) })
	}
	wg.Wait()
	bank, err := wake.NewBank(sources, voicesFor(all, voiceSeconds))
	if err != nil {
		return err
	}
	about := describe(bank)
	data := bank.Encode(about)
	dir := filepath.Join(models, "wake")
	if err := disk.WriteFile(filepath.Join(dir, wake.BankFile), data, 0o644); err != nil {
		return err
	}
	about += fmt.Sprintf("size: %d bytes\nsha256: %x\n", len(data), sha256.Sum256(data))
	if err := disk.WriteFile(filepath.Join(dir, "bank.txt"), []byte(about), 0o644); err != nil {
		return err
	}
	fmt.Print(about)
	_, err = wake.LoadBank(models)
	return err
}

func embed(model *wake.Model, pcm []int16) []float32 {
	e := model.NewEmbedder()
	var rows []float32
	for ; len(pcm) >= speech.Frame; pcm = pcm[speech.Frame:] {
		rows = append(rows, e.Step(pcm)...)
	}
	return rows
}

// describe is the text of bank.txt: what went in and what may be done with it.
func describe(b *wake.Bank) string {
	var s strings.Builder
	s.WriteString("Speech bank of the wake word: embeddings of other people's speech, their mean and\n" +
		"whitening, and 20 seconds of them as sound. Made by tools/wakebank from:\n")
	for i, g := range b.Groups() {
		minutes := float64(g.End-g.Start) * speech.Frame / rate / 60
		if i < len(voices) {
			fmt.Fprintf(&s, "  %-8s %5.1f min  Debian %s: %s\n", g.Name, minutes, voices[i].pkg, voices[i].licence)
		} else {
			fmt.Fprintf(&s, "  %-8s %5.1f min  made by the command\n", g.Name, minutes)
		}
	}
	s.WriteString("Licence of the file: CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/)\n")
	return s.String()
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"homeagent/drivers/voice/wake"
	"homeagent/drivers/voice/wake/wakefile"
	"homeagent/memory/disk"
	"homeagent/tools/wakemodel/onnx"
)

func main() {
	models := flag.String("models", "", "models `folder`; the files go to its folder wake")
	from := flag.String("from", "", "unpacked `package` whose folder models has the .onnx files (default: DIR/wake)")
	flag.Parse()
	if *models == "" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*models, *from); err != nil {
		fmt.Fprintln(os.Stderr, "wakemodel:", err)
		os.Exit(1)
	}
}

func run(models, from string) error {
	target := filepath.Join(models, "wake")
	source := target
	if from != "" {
		source = filepath.Join(from, "models")
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	for _, f := range []struct {
		onnx, bin string
		convert   func(*onnx.Graph) (*wakefile.File, error)
	}{
		{"embedding_model.onnx", wake.EmbeddingFile, embedding},
		{"melspectrogram.onnx", wake.MelFile, mel},
	} {
		path := filepath.Join(source, f.onnx)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing; tools/setup brings it", path)
		}
		if err != nil {
			return err
		}
		g, err := onnx.Parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		file, err := f.convert(g)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out := filepath.Join(target, f.bin)
		encoded := file.Encode()
		if err := disk.WriteFile(out, encoded, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes\n", out, len(encoded))
	}
	_, err := wake.LoadModel(models)
	return err
}

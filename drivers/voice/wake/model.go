package wake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake/wakefile"
)

// Names of the files in the folder "wake" of the models folder.
const (
	EmbeddingFile = "embedding.bin"
	MelFile       = "mel.bin"
	BankFile      = "bank.bin"
)

// fileVersion is the newest version of the model files that is read.
const fileVersion = 1

// Model is the speech embedding: constants only, shared by any number of
// goroutines. It holds about 1.4 MB.
type Model struct {
	mel   *melTables
	convs *[convs]*conv
	// id names the weights, so that a word made with others is noticed.
	id string
}

// LoadModel reads embedding.bin and mel.bin from the folder "wake" of the models
// folder. An absent file is an error that wraps speech.ErrMissing and names the
// command that brings it; a damaged one wraps wakefile.ErrDamaged.
func LoadModel(models string) (*Model, error) {
	f, err := load(models, EmbeddingFile, wakefile.Embedding)
	if err != nil {
		return nil, err
	}
	m := &Model{id: f.ID()}
	if m.convs, err = newConvs(f); err != nil {
		return nil, fmt.Errorf("wake word model %s: %w", EmbeddingFile, err)
	}
	if f, err = load(models, MelFile, wakefile.Mel); err != nil {
		return nil, err
	}
	if m.mel, err = newMelTables(f); err != nil {
		return nil, fmt.Errorf("wake word model %s: %w", MelFile, err)
	}
	return m, nil
}

// load reads one of the files in the models folder.
func load(models, name string, kind wakefile.Kind) (*wakefile.File, error) {
	path := filepath.Join(models, "wake", name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("wake word model %s: %w; run tools/setup to bring it", path, speech.ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("wake word model: %w", err)
	}
	f, err := wakefile.Decode(data, kind, fileVersion)
	if err != nil {
		return nil, fmt.Errorf("wake word model %s: %w; run tools/setup to bring it anew", path, err)
	}
	return f, nil
}

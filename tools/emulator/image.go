package emulator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrNoImage is a folder without an image for the board.
var ErrNoImage = errors.New("there is no image; make image builds one (还没有镜像，请先运行 make image)")

// FindImage is the newest image of a board in a folder.
func FindImage(folder, board string) (string, error) {
	all, err := filepath.Glob(filepath.Join(folder, "homeagent-"+board+"-*.img"))
	if err != nil {
		return "", err
	}
	newest, when := "", time.Time{}
	for _, path := range all {
		info, err := os.Stat(path)
		if err == nil && info.ModTime().After(when) {
			newest, when = path, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s: %w", filepath.Join(folder, "homeagent-"+board+"-*.img"), ErrNoImage)
	}
	return newest, nil
}

package sparse

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCopy copies pieces of a file with two islands of data in 64 MiB of holes.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	in, err := os.Create(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	const size = 64 << 20
	if err := in.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for at, text := range map[int64]string{1 << 20: "first", 40 << 20: "second"} {
		if _, err := in.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(in.Name())
	if err != nil {
		t.Fatal(err)
	}
	for name, piece := range map[string][2]int64{
		"all": {0, size}, "a hole": {2 << 20, 1 << 20}, "within the data": {1<<20 + 2, 2}, "to the end": {39 << 20, 25 << 20}, "nothing": {5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := Copy(out, in, piece[0], piece[1]); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out.Name())
			if err != nil || !bytes.Equal(got, whole[piece[0]:piece[0]+piece[1]]) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			info, err := out.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if used := info.Sys().(*syscall.Stat_t).Blocks * 512; used > 4<<20 {
				t.Errorf("%d bytes of the disk are used", used)
			}
		})
	}
}

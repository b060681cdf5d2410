package boardtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestTornSuperblockIsMended makes the data partition as the image has it, before
// it ever grew, tears its superblock and lets e2fsck mend it as the start does.
// A file system of one group has no copy to mend it by.
func TestTornSuperblockIsMended(t *testing.T) {
	mke2fs, e2fsck := program(t, "mke2fs"), program(t, "e2fsck")
	size, err := strconv.ParseInt(variables(read(t, "board/common/layout.env"))["DATA_MIB"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data.ext4")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size * mib); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mke2fs, "-q", "-F", "-t", "ext4", "-J", "size=8", "-E", "resize=67108864,nodiscard", path)
	cmd.Env = append(os.Environ(), "MKE2FS_CONFIG="+filepath.Join(root, "board/common/mke2fs.conf"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mke2fs: %v\n%s", err, out)
	}
	if _, err := f.WriteAt(make([]byte, 4096), 0); err != nil {
		t.Fatal(err)
	}
	status := 0
	for range 2 {
		out, err := exec.Command(e2fsck, "-f", "-y", path).CombinedOutput()
		var exit *exec.ExitError
		if status = 0; errors.As(err, &exit) {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		t.Logf("e2fsck ended with %d:\n%s", status, out)
		if status < 4 {
			return
		}
	}
	t.Errorf("with %d MiB a torn superblock is not mended: %d", size, status)
}

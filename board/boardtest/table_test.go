package boardtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	sector   = 512
	mib      = 1 << 20
	original = 392 * mib
)

// card is an image file with the layout's partitions and a number of bytes.
type card struct {
	t      *testing.T
	path   string
	sfdisk string
}

func newCard(t *testing.T, size int64) card {
	t.Helper()
	c := card{t: t, path: filepath.Join(t.TempDir(), "card.img"), sfdisk: program(t, "sfdisk")}
	c.truncate(original)
	c.edit("label: dos\nlabel-id: 0x48414745\nstart=8192,size=65536,type=c\nsize=65536,type=c\nsize=65536,type=c\n" +
		"start=204800,type=f\nsize=229376,type=83\nsize=229376,type=83\nsize=131072,type=83\n")
	c.truncate(size)
	return c
}

func (c card) truncate(size int64) {
	c.t.Helper()
	f, err := os.OpenFile(c.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		c.t.Fatal(err)
	}
}

// edit gives sfdisk a script.
func (c card) edit(script string, args ...string) {
	c.t.Helper()
	cmd := exec.Command(c.sfdisk, append([]string{"-q", "--no-reread", "--no-tell-kernel", "--force"}, append(args, c.path)...)...)
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("sfdisk: %v\n%s", err, out)
	}
}

// drop removes a partition.
func (c card) drop(number string) {
	c.t.Helper()
	if out, err := exec.Command(c.sfdisk, "-q", "--no-reread", "--no-tell-kernel", "--force", "--delete", c.path, number).CombinedOutput(); err != nil {
		c.t.Fatalf("sfdisk: %v\n%s", err, out)
	}
}

// sh runs shell with the table's functions, the card's path in $disk and its sectors in $sectors.
func (c card) sh(script string) string {
	c.t.Helper()
	info, err := os.Stat(c.path)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `. `+root+`/board/common/layout.env; . `+root+`/overlay/usr/lib/homeagent/table.sh
sectors=$((bytes / 512)); `+script)
	cmd.Env = append(os.Environ(), "disk="+c.path, "sfdisk="+c.sfdisk, "bytes="+strconv.FormatInt(info.Size(), 10))
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestTableIsReadAndMended(t *testing.T) {
	mbr := func(c card) []byte {
		b, err := os.ReadFile(c.path)
		if err != nil {
			c.t.Fatal(err)
		}
		return b[:sector]
	}
	rows := []struct {
		name  string
		size  int64
		spoil func(card)
		wants string
		after string // what it wants when mended
	}{
		{"as written", original, func(card) {}, "none", "none"},
		{"on a larger card", 1024 * mib, func(card) {}, "grow", "none"},
		{"odd sectors at the end", original + 2*mib, func(card) {}, "none", "none"},
		{"cut between the two writes", 1024 * mib, func(c card) { c.edit(",+\n", "-N", "4") }, "grow", "none"},
		{"extended partition lags behind", 1024 * mib, func(c card) {
			old := mbr(c)
			c.sh(`table_mend "$sfdisk" "$disk" grow`)
			f, err := os.OpenFile(c.path, os.O_WRONLY, 0)
			if err != nil {
				c.t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(old, 0); err != nil {
				c.t.Fatal(err)
			}
		}, "grow", "none"},
		{"no data partition", original, func(c card) { c.drop("7") }, "data", "none"},
		{"no data partition, larger card", 1024 * mib, func(c card) { c.drop("7") }, "data", "none"},
		{"no data partition and no room", 328 * mib, func(c card) { c.drop("7") }, "broken", "broken"},
		{"no extended partition", original, func(c card) { c.drop("4") }, "broken", "broken"},
		{"nothing at all", original, func(c card) { c.truncate(0); c.truncate(original) }, "broken", "broken"},
		{"an empty file", original, func(c card) { c.truncate(0) }, "broken", "broken"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newCard(t, max(row.size, original))
			before := c.sh(`table_read "$disk"; echo "$last_end $data_start"`)
			row.spoil(c)
			if row.size < original {
				c.truncate(row.size)
			}
			if got := c.sh(`table_wants "$disk" "$sectors"`); got != row.wants {
				t.Fatalf("wants %q, not %q", got, row.wants)
			}
			if row.wants == "none" || row.wants == "broken" {
				return
			}
			c.sh(`table_mend "$sfdisk" "$disk" ` + row.wants)
			if got := c.sh(`table_wants "$disk" "$sectors"`); got != row.after {
				t.Errorf("afterwards wants %q, not %q", got, row.after)
			}
			// The roots before it have not moved, and data begins where it did: its file system is still there.
			if after := c.sh(`table_read "$disk"; echo "$last_end $data_start"`); after != before {
				t.Errorf("roots end and data begins at %s, before at %s", after, before)
			}
			if out, err := exec.Command(c.sfdisk, "--verify", c.path).CombinedOutput(); err != nil {
				t.Errorf("sfdisk --verify: %v\n%s", err, out)
			}
		})
	}
}

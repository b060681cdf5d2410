package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"homeagent/tools/sparse"
)

// Disk is a card of an emulated machine: a file of this computer. Nothing may
// run on it while it is read or written here.
type Disk struct {
	// Path is the file; Layout says what lies where.
	Path   string
	Layout Layout
}

// ErrNoMtools is a computer without mtools, which reach into a FAT without mounting it.
var ErrNoMtools = errors.New("mtools are not installed; tools/setup image brings them")

// NewDisk copies an image to a new file at path, holes kept, and makes it at
// least atLeast bytes, up to the next power of two. An existing file is replaced.
func NewDisk(image, path string, layout Layout, atLeast int64) (*Disk, error) {
	if err := copySparse(image, path); err != nil {
		return nil, fmt.Errorf("copy the image: %w", err)
	}
	d := &Disk{Path: path, Layout: layout}
	if err := d.Grow(atLeast); err != nil {
		return nil, err
	}
	return d, nil
}

// Grow makes the card larger, as if its content had been written to a larger
// one: to atLeast bytes and up to the next power of two. It never gets smaller.
func (d *Disk) Grow(atLeast int64) error {
	info, err := os.Stat(d.Path)
	if err != nil {
		return err
	}
	size := int64(1)
	for size < max(atLeast, info.Size()) {
		size *= 2
	}
	return os.Truncate(d.Path, size)
}

// Clone copies the card, so that one prepared state can be started from often.
func (d *Disk) Clone(path string) (*Disk, error) {
	if err := copySparse(d.Path, path); err != nil {
		return nil, fmt.Errorf("copy the card: %w", err)
	}
	return &Disk{Path: path, Layout: d.Layout}, nil
}

// Partitions reads the card's table.
func (d *Disk) Partitions() ([]Partition, error) {
	f, err := os.Open(d.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadPartitions(f)
}

// Partition finds one partition by its number.
func (d *Disk) Partition(number int) (Partition, error) {
	all, err := d.Partitions()
	if err != nil {
		return Partition{}, fmt.Errorf("%s: %w", d.Path, err)
	}
	for _, p := range all {
		if p.Number == number {
			return p, nil
		}
	}
	return Partition{}, fmt.Errorf("%s has no partition %d", d.Path, number)
}

// ReadFile reads a file from a FAT partition; it is an fs.ErrNotExist if it is absent.
func (d *Disk) ReadFile(ctx context.Context, partition int, name string) ([]byte, error) {
	return d.mtool(ctx, nil, "mtype", partition, []string{"::" + name})
}

// ListFiles names what lies in the top folder of a FAT partition.
func (d *Disk) ListFiles(ctx context.Context, partition int) ([]string, error) {
	out, err := d.mtool(ctx, nil, "mdir", partition, []string{"-b", "::"})
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimPrefix(strings.TrimSpace(line), "::/"); name != "" && !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	return names, nil
}

// WriteFile puts a file onto a FAT partition, over one of the same name.
func (d *Disk) WriteFile(ctx context.Context, partition int, name string, content []byte) error {
	_, err := d.mtool(ctx, content, "mcopy", partition, []string{"-o", "-", "::" + name})
	return err
}

// RemoveFile deletes a file from a FAT partition.
func (d *Disk) RemoveFile(ctx context.Context, partition int, name string) error {
	_, err := d.mtool(ctx, nil, "mdel", partition, []string{"::" + name})
	return err
}

// mtool runs one of the mtools on a partition.
func (d *Disk) mtool(ctx context.Context, stdin []byte, tool string, partition int, args []string) ([]byte, error) {
	p, err := d.Partition(partition)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool, append([]string{"-i", fmt.Sprintf("%s@@%d", d.Path, p.Offset)}, args...)...)
	var out, bad bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &bad
	// A damaged or foreign FAT must not make the tools ask.
	cmd.Env = append(os.Environ(), "MTOOLS_SKIP_CHECK=1", "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		switch {
		case errors.Is(err, exec.ErrNotFound):
			return nil, ErrNoMtools
		case strings.Contains(bad.String(), "not found"):
			err = fs.ErrNotExist
		}
		return nil, fmt.Errorf("%s on partition %d: %w: %s", strings.Join(append([]string{tool}, args...), " "), partition, err, strings.TrimSpace(bad.String()))
	}
	return out.Bytes(), nil
}

// Environment is what U-Boot would read: the newer of the copies that are whole,
// or ErrNoEnvironment if neither is and the compiled-in one counts.
func (d *Disk) Environment() (map[string]string, error) {
	vars, _, err := d.environment()
	return vars, err
}

func (d *Disk) environment() (vars map[string]string, counter byte, err error) {
	err = ErrNoEnvironment
	for _, offset := range d.Layout.Environment {
		b := make([]byte, d.Layout.EnvironmentSize)
		if bad := d.at(offset, b, false); bad != nil {
			return nil, 0, bad
		}
		v, c, bad := ParseEnvironment(b)
		// The counter goes round: 0 is newer than 255.
		if bad == nil && (err != nil || c == counter+1) {
			vars, counter, err = v, c, nil
		}
	}
	return vars, counter, err
}

// SetEnvironment changes variables and writes both copies; a variable that is
// set to "" is removed.
func (d *Disk) SetEnvironment(change map[string]string) error {
	vars, counter, err := d.environment()
	if errors.Is(err, ErrNoEnvironment) {
		vars = map[string]string{}
	} else if err != nil {
		return err
	}
	for k, v := range change {
		if vars[k] = v; v == "" {
			delete(vars, k)
		}
	}
	for i, offset := range d.Layout.Environment {
		b, err := FormatEnvironment(vars, counter+byte(i), d.Layout.EnvironmentSize)
		if err != nil {
			return err
		}
		if err := d.at(offset, b, true); err != nil {
			return err
		}
	}
	return nil
}

// Overwrite writes bytes at an offset of a partition, as damage does.
func (d *Disk) Overwrite(partition int, offset int64, b []byte) error {
	p, err := d.Partition(partition)
	if err != nil {
		return err
	}
	if offset < 0 || offset+int64(len(b)) > p.Bytes {
		return fmt.Errorf("%d bytes at %d do not fit into partition %d", len(b), offset, partition)
	}
	return d.at(p.Offset+offset, b, true)
}

// RemoveLast takes the last logical partition out of the table, as on a card
// that was partitioned by somebody else. Its content stays where it is.
func (d *Disk) RemoveLast(number int) error {
	f, err := os.OpenFile(d.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	link, err := lastLink(f, number)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(make([]byte, 16), link+446+16); err != nil {
		return err
	}
	return f.Close()
}

// ExtractPartition copies a whole partition into a file, for fsck and the like.
func (d *Disk) ExtractPartition(partition int, path string) error {
	p, err := d.Partition(partition)
	if err != nil {
		return err
	}
	in, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	return copyRange(in, path, p.Offset, p.Bytes)
}

func (d *Disk) at(offset int64, b []byte, write bool) error {
	f, err := os.OpenFile(d.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if write {
		_, err = f.WriteAt(b, offset)
	} else {
		_, err = f.ReadAt(b, offset)
	}
	return err
}

// copySparse copies a file and leaves its holes holes.
func copySparse(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return copyRange(in, to, 0, info.Size())
}

// copyRange copies n bytes from an offset into a new file, holes left out.
func copyRange(in *os.File, to string, offset, n int64) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := sparse.Copy(out, in, offset, n); err != nil {
		return err
	}
	return out.Close()
}

// Renew replaces everything of a card but its data by what an image holds, as an
// update would. The card's table must have the image's partitions in their places.
func (d *Disk) Renew(image string) error {
	fresh := &Disk{Path: image, Layout: d.Layout}
	wanted, err := fresh.Partitions()
	if err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	in, err := os.Open(image)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(d.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	regions := []Partition{{Offset: d.Layout.Environment[0], Bytes: int64(d.Layout.EnvironmentSize)},
		{Offset: d.Layout.Environment[1], Bytes: int64(d.Layout.EnvironmentSize)}}
	for _, p := range wanted {
		if p.Number == d.Layout.Data || p.Type == typeExtended || p.Type == typeExtended2 {
			continue
		}
		if have, err := d.Partition(p.Number); err != nil || have != p {
			return fmt.Errorf("partition %d of %s lies elsewhere on %s; begin with a new card", p.Number, image, d.Path)
		}
		regions = append(regions, p)
	}
	for _, r := range regions {
		if _, err := io.Copy(io.NewOffsetWriter(out, r.Offset), io.NewSectionReader(in, r.Offset, r.Bytes)); err != nil {
			return fmt.Errorf("renew the card: %w", err)
		}
	}
	return out.Close()
}

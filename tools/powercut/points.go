package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homeagent/tools/emulator"
	"homeagent/tools/powercut/writelog"
)

// region is a part of the disk that has a name.
type region struct {
	from, to int64
	name     string
}

// points names what lies where on a card, so that cuts fall into every kind of
// place. Files that were replaced during the run have lain elsewhere before; what
// is not known is named by its partition.
type points struct {
	regions []region // sorted, not overlapping
	grown   int      // entries before this one belong to the first boot
	table   int      // the first entry that writes the partition table
}

const block = 4096

// databases are files whose first two blocks say which of the others count.
var databases = map[string]bool{"state.db": true, "door.db": true}

// newPoints reads the card as the run has left it. grown is how many entries
// there were when the page was used first.
func newPoints(ctx context.Context, card *emulator.Disk, dir string, entries []writelog.Entry, grown int) (*points, error) {
	data, err := card.Partition(card.Layout.Data)
	if err != nil {
		return nil, err
	}
	setup, err := card.Partition(card.Layout.Setup)
	if err != nil {
		return nil, err
	}
	p := &points{grown: grown, table: len(entries)}
	image := filepath.Join(dir, "points.img")
	if err := card.ExtractPartition(card.Layout.Data, image); err != nil {
		return nil, err
	}
	defer os.Remove(image)
	if err := replayJournal(ctx, image); err != nil {
		return nil, err
	}
	var names []string
	err = mounted(ctx, image, filepath.Join(dir, "points"), func(top string) error {
		return filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				names = append(names, strings.TrimPrefix(path, top))
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	p.add(setup.Offset, setup.Bytes, "setup")
	p.add(data.Offset, block, "superblock")
	blocks, err := blocksOf(ctx, image, append([]string{"<8>"}, names...))
	if err != nil {
		return nil, err
	}
	for name, list := range blocks {
		for i, n := range list {
			p.add(data.Offset+n*block, block, pointName(name, i))
		}
	}
	slices.SortFunc(p.regions, func(a, b region) int { return int(min(1, max(-1, a.from-b.from))) })
	for i, e := range entries {
		if e.Writes() && e.Offset < data.Offset && p.at(e.Offset) == "" {
			p.table = min(p.table, i)
		}
	}
	return p, nil
}

func (p *points) add(from, n int64, name string) {
	p.regions = append(p.regions, region{from, from + n, name})
}

// pointName is the kind of place of the i-th block of a file.
func pointName(path string, i int) string {
	name := filepath.Base(path)
	switch {
	case path == "<8>":
		return "journal"
	case databases[name] && i < 2:
		return name + " meta"
	case strings.HasPrefix(name, "raw_"):
		return "raw"
	case strings.Contains(path, "/secrets/"):
		return "secrets"
	case strings.HasPrefix(path, "/log/"):
		return "log"
	}
	return name
}

// at is the name of the region that holds an offset, "" for none.
func (p *points) at(offset int64) string {
	i, found := slices.BinarySearchFunc(p.regions, offset, func(r region, at int64) int { return int(min(1, max(-1, r.from-at))) })
	if !found {
		i--
	}
	if i >= 0 && offset < p.regions[i].to {
		return p.regions[i].name
	}
	return ""
}

// name is the kind of place that an entry writes to.
func (p *points) name(i int, e writelog.Entry, data int64) string {
	if !e.Writes() {
		if i < p.grown {
			return "flush of the first boot"
		}
		return "flush"
	}
	name := p.at(e.Offset)
	switch {
	case name == "setup":
	case e.Offset < data:
		name = "table"
	case i >= p.table && i < p.grown && (name == "" || name == "journal"):
		name = "growth"
	case name == "":
		name = "file system"
	}
	return name
}

var blockNumber = regexp.MustCompile(`^\d+$`)

// blocksOf asks debugfs where files lie. A name may be an inode, "<8>".
func blocksOf(ctx context.Context, image string, names []string) (map[string][]int64, error) {
	var script strings.Builder
	for _, n := range names {
		fmt.Fprintf(&script, "blocks \"%s\"\n", n)
	}
	cmd := exec.CommandContext(ctx, "debugfs", "-f", "-", image)
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("debugfs: %w", err)
	}
	found, now := map[string][]int64{}, -1
	for line := range strings.Lines(string(out)) {
		if _, ok := strings.CutPrefix(line, "debugfs: blocks "); ok {
			now++
			continue
		}
		if now < 0 || now >= len(names) {
			continue
		}
		for _, word := range strings.Fields(line) {
			if !blockNumber.MatchString(word) {
				break
			}
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("debugfs: %w", err)
			}
			found[names[now]] = append(found[names[now]], n)
		}
	}
	return found, nil
}

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"homeagent/tools/emulator"
	"homeagent/tools/powercut/cut"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/stores"
)

// atOnce is how many copies are looked into beside each other.
const atOnce = 2

// errNoRoot is a computer on which partitions cannot be mounted.
var errNoRoot = errors.New("replaying needs root, to mount copies of the partitions; run it as root, or with -replayed 0")

// cutReplayed records a run, unless one is given, and makes cuts of it.
func (b *bench) cutReplayed(ctx context.Context) (t tally, err error) {
	if os.Getuid() != 0 {
		return t, errNoRoot
	}
	dir := b.recorded
	if dir == "" {
		if err := b.record(ctx); err != nil {
			return t, fmt.Errorf("record: %w", err)
		}
		dir = b.work
	}
	r, err := openRecorded(dir)
	if err != nil {
		return t, err
	}
	defer r.file.Close()
	return b.replay(ctx, r)
}

// replayer makes the cuts of one run.
type replayer struct {
	*bench
	run     *recordedRun
	disk    *cut.Disk
	flushes cut.Flushes
	size    int64 // of the card
	start   int64 // of the data partition
	setup   emulator.Partition
	files   map[string][]byte // of the setup partition, before
	built   time.Time

	mu      sync.Mutex
	lost    int
	damaged int            // cuts after which something was not sound
	checks  map[string]int // what the checkers found to mend
	// What the tables and the setup partition are found to be, by their content:
	// most cuts leave them as an earlier one did.
	tables map[[sha256.Size]byte]string
	setups map[[sha256.Size]byte]setupFound
	unpack sync.Mutex // one setup partition at a time
}

func (b *bench) replay(ctx context.Context, run *recordedRun) (t tally, err error) {
	r := &replayer{bench: b, run: run, flushes: cut.NewFlushes(run.log.Entries), checks: map[string]int{},
		tables: map[[sha256.Size]byte]string{}, setups: map[[sha256.Size]byte]setupFound{}}
	run.acked.Settle(func(n uint64) uint64 { return uint64(r.flushes.Durable(int(min(n, uint64(len(run.log.Entries)))))) })
	before := &emulator.Disk{Path: filepath.Join(b.work, "replay.img"), Layout: b.parts}
	original := &emulator.Disk{Path: filepath.Join(run.dir, recordedBefore), Layout: b.parts}
	if before, err = original.Clone(before.Path); err != nil {
		return t, err
	}
	defer os.Remove(before.Path)
	if err := r.know(ctx, before); err != nil {
		return t, err
	}
	grown := r.firstUse()
	points, err := newPoints(ctx, &emulator.Disk{Path: filepath.Join(run.dir, recordedCard), Layout: b.parts}, b.work, run.log.Entries, grown)
	if err != nil {
		return t, err
	}
	file, err := os.OpenFile(before.Path, os.O_RDWR, 0)
	if err != nil {
		return t, err
	}
	defer file.Close()
	r.disk = cut.NewDisk(file, run.log)
	cuts := cut.Plan(run.log.Entries, func(i int) string {
		name := points.name(i, run.log.Entries[i], r.start)
		if b.point != nil && !b.point(name) {
			return ""
		}
		return name
	}, b.replayed, b.seed)
	b.say("replaying %d of %d entries, %d flushes, %d before the first use; points: %s", len(cuts), len(run.log.Entries), len(r.flushes), grown, counted(cuts))
	began := time.Now()
	defer func() {
		for _, f := range r.setups {
			os.RemoveAll(f.dir)
		}
	}()
	if err := r.all(ctx, cuts); err != nil {
		return t, err
	}
	b.say("replayed in %s; %d tables, %d setup partitions; exit statuses %v", time.Since(began).Round(time.Second), len(r.tables), len(r.setups), r.checks)
	return tally{cuts: len(cuts), writes: run.acked.Count(), lost: r.lost, damaged: r.damaged}, nil
}

// know reads what does not change during the run.
func (r *replayer) know(ctx context.Context, before *emulator.Disk) error {
	info, err := os.Stat(before.Path)
	if err != nil {
		return err
	}
	data, err := before.Partition(r.parts.Data)
	if err != nil {
		return err
	}
	if r.setup, err = before.Partition(r.parts.Setup); err != nil {
		return err
	}
	r.size, r.start = info.Size(), data.Offset
	r.built = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	image := filepath.Join(r.work, "setup-before.img")
	if err := before.ExtractPartition(r.parts.Setup, image); err != nil {
		return err
	}
	defer os.Remove(image)
	dir := filepath.Join(r.work, "setup-before")
	defer os.RemoveAll(dir)
	if err := unpacked(ctx, image, dir); err != nil {
		return err
	}
	r.files, err = filesOf(dir)
	return err
}

// firstUse is how many entries there were when the first write of the user was
// acknowledged.
func (r *replayer) firstUse() int {
	n := len(r.run.log.Entries)
	for _, e := range r.run.acked.Due(ledger.All) {
		if e.Kind == ledger.Claim {
			for i := range n {
				if len(r.run.acked.Due(uint64(i))) > 1 { // what the card brought is due from the begin
					return i
				}
			}
		}
	}
	return n
}

// counted tells how many cuts there are of each point.
func counted(cuts []cut.Cut) string {
	n := map[string]int{}
	for _, c := range cuts {
		n[c.Point]++
	}
	text := ""
	for _, p := range slices.Sorted(maps.Keys(n)) {
		text += fmt.Sprintf(" %s %d,", p, n[p])
	}
	return text
}

// all makes the cuts one after another and has each looked into beside the next.
func (r *replayer) all(ctx context.Context, cuts []cut.Cut) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	free := make(chan int, atOnce)
	for i := range atOnce {
		free <- i
	}
	for i, c := range cuts {
		var place int
		select {
		case place = <-free:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		copied, err := r.copy(c, place)
		if err != nil {
			cancel(fmt.Errorf("%v: %w", c, err))
			break
		}
		wg.Go(func() {
			found, err := r.look(ctx, copied)
			if err != nil {
				cancel(fmt.Errorf("%v: %w", c, err))
				return
			}
			r.tell(copied, found)
			free <- place
		})
		if (i+1)%100 == 0 {
			r.say("%d of %d replayed", i+1, len(cuts))
		}
	}
	wg.Wait()
	return context.Cause(ctx)
}

// tell notes what was lost and what was damaged.
func (r *replayer) tell(c copied, f ledger.Found) {
	lost := ledger.Missing(r.run.acked.Due(uint64(c.covers)), f)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range lost {
		r.say("LOST at %v: %s", c.cut, l)
	}
	for _, d := range f.Damage {
		r.say("DAMAGED at %v: %s", c.cut, d)
	}
	r.lost += len(lost)
	if len(f.Damage) > 0 {
		r.damaged++
	}
	if r.keep && len(lost)+len(f.Damage) > 0 {
		to := fmt.Sprintf("%s-%d-%s", filepath.Join(r.work, "lost"), c.cut.Entry, c.cut.Mode)
		os.Rename(c.data, to+".data.img")
		os.Rename(c.setup, to+".setup.img")
	}
}

// copied is what a cut has left, as files.
type copied struct {
	cut               cut.Cut
	dir               string
	head, setup, data string
	tables            [sha256.Size]byte // sum of the partition tables
	covers            int
}

// copy makes the files of a cut in the place of a worker.
func (r *replayer) copy(c cut.Cut, place int) (copied, error) {
	v, err := r.disk.Make(c)
	if err != nil {
		return copied{}, err
	}
	dir := filepath.Join(r.work, fmt.Sprintf("look-%d", place))
	out := copied{cut: c, dir: dir, head: filepath.Join(dir, "head.img"), setup: filepath.Join(dir, "setup.img"), data: filepath.Join(dir, "data.img"),
		covers: r.flushes.Covers(c)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return out, err
	}
	if out.tables, err = r.copyTables(v, out.head); err != nil {
		return out, err
	}
	if err := v.Extract(out.setup, r.setup.Offset, r.setup.Bytes); err != nil {
		return out, err
	}
	return out, v.Extract(out.data, r.start, r.size-r.start)
}

// look opens everything that a cut has left.
func (r *replayer) look(ctx context.Context, c copied) (found ledger.Found, err error) {
	due := r.run.acked.Due(uint64(c.covers))
	damage := []string{}
	if why := r.lookTable(ctx, c); why != "" {
		damage = append(damage, "partition table: "+why)
	}
	setup, err := r.lookSetup(ctx, c)
	if err != nil {
		return found, err
	}
	damage = append(damage, setup.damage...)
	why, err := r.mendData(ctx, c.data)
	if err != nil {
		return found, err
	}
	look := stores.House{Setup: setup.dir, Clock: "system/clock", Built: r.built}
	if why == "" {
		err := mounted(ctx, c.data, filepath.Join(c.dir, "data"), func(data string) error {
			look.Data = data
			found = look.Look(ctx, due)
			return nil
		})
		if err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		// The box would make it anew: what is left is what the card itself says.
		damage = append(damage, "the data partition: "+why)
		look.Data = filepath.Join(c.dir, "nothing")
		found = look.Look(ctx, due)
	}
	found.Damage = append(damage, found.Damage...)
	return found, ctx.Err()
}

// mendTries is how often the box runs e2fsck -f -y where -p was not enough.
const mendTries = 2

// mendData does with a data partition what the box does at each start, and says
// why it cannot be mended, "" if it can.
func (r *replayer) mendData(ctx context.Context, image string) (string, error) {
	code, out, err := status(ctx, "e2fsck", "-p", image)
	for try := 0; err == nil && code >= unmendable && try < mendTries; try++ {
		r.count(fmt.Sprintf("e2fsck before try %d: %d", try+1, code))
		code, out, err = status(ctx, "e2fsck", "-f", "-y", image)
	}
	if err != nil {
		return "", err
	}
	r.count(fmt.Sprintf("e2fsck %d", code))
	if code >= unmendable {
		return fmt.Sprintf("e2fsck ended with %d: %s", code, lastLines(out, 4)), nil
	}
	// The box is content with that. A whole check shows what it has left, and
	// what such a check would take away is missed afterwards.
	code, out, err = status(ctx, "e2fsck", "-f", "-y", image)
	r.count(fmt.Sprintf("whole e2fsck %d", code))
	if err == nil && code >= unmendable {
		return fmt.Sprintf("a whole e2fsck ended with %d: %s", code, lastLines(out, 4)), nil
	}
	return "", err
}

// lookTable mends the table of a cut, unless one like it has been mended before.
func (r *replayer) lookTable(ctx context.Context, c copied) string {
	r.mu.Lock()
	why, known := r.tables[c.tables]
	r.mu.Unlock()
	if known {
		return why
	}
	why = r.mendTable(ctx, c.head)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil {
		r.tables[c.tables] = why
	}
	return why
}

// setupFound is what a setup partition holds.
type setupFound struct {
	dir    string // its files
	damage []string
}

// lookSetup checks and unpacks the setup partition of a cut, unless one like it
// has been unpacked before.
func (r *replayer) lookSetup(ctx context.Context, c copied) (setupFound, error) {
	image, err := os.ReadFile(c.setup)
	if err != nil {
		return setupFound{}, err
	}
	sum := sha256.Sum256(image)
	r.unpack.Lock()
	defer r.unpack.Unlock()
	r.mu.Lock()
	f, known := r.setups[sum]
	r.mu.Unlock()
	if known {
		return f, nil
	}
	code, _, err := status(ctx, "fsck.vfat", "-n", c.setup)
	if err != nil {
		return f, err
	}
	r.count(fmt.Sprintf("fsck.vfat %d", code))
	f.dir = filepath.Join(r.work, fmt.Sprintf("setup-%x", sum[:8]))
	if err := unpacked(ctx, c.setup, f.dir); err != nil {
		f.damage = append(f.damage, fmt.Sprintf("the setup partition: %v", err))
	} else if now, err := filesOf(f.dir); err != nil {
		return f, err
	} else {
		f.damage = differences(r.files, now)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil {
		r.setups[sum] = f
	}
	return f, ctx.Err()
}

func (r *replayer) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks[what]++
}

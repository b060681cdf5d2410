package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"homeagent/tools/figure"
)

// imageName is the name of the result without the compressed form's suffix.
func (b *builder) imageName() string { return "homeagent-" + b.board + "-" + b.version + ".img" }

// finish lets the board's script make the card's image, unless the one that is
// there was made from the same parts.
func (b *builder) finish(ctx context.Context, bin string) error {
	sum := &key{}
	sum.text(b.board, b.version, fmt.Sprint(b.epoch))
	for _, part := range []string{bin, filepath.Join(b.source, "board/common"), filepath.Join(b.source, "board", b.board)} {
		if err := sum.file(part); err != nil {
			return fmt.Errorf("read the parts of the image: %w", err)
		}
	}
	image := filepath.Join(b.outDir, b.imageName())
	wanted := []string{image}
	compress := "0"
	if !b.raw {
		compress = "1"
		wanted = append(wanted, image+".xz", image+".xz.sha256")
	}
	mark := filepath.Join(b.outDir, ".made-"+b.board+map[bool]string{true: "-raw"}[b.raw])
	made := sum.sum()
	if b.isMade(mark, made, wanted) || b.raw && b.isMade(strings.TrimSuffix(mark, "-raw"), made, wanted) {
		b.say("%s is up to date", image)
		return nil
	}
	if b.raw {
		b.say("making the card's image")
	} else {
		b.say("making the card's image and its compressed form; this takes a minute or two")
	}
	env := b.environ("HOMEAGENT_OUT="+b.outDir, "HOMEAGENT_COMPRESS="+compress)
	script := filepath.Join(b.source, "board/common/post-image.sh")
	if err := b.command(ctx, "", env, script, bin, b.board); err != nil {
		return err
	}
	if err := writeFile(mark, []byte(made)); err != nil {
		return err
	}
	b.say("%s", strings.Join(wanted, " "))
	return nil
}

func (b *builder) isMade(mark, made string, wanted []string) bool {
	text, err := os.ReadFile(mark)
	if err != nil || string(text) != made {
		return false
	}
	for _, w := range wanted {
		if _, err := os.Stat(w); err != nil {
			return false
		}
	}
	return true
}

// sizes prints how large the image is, as JSON lines.
func (b *builder) sizes() error {
	layout, err := os.ReadFile(filepath.Join(b.source, "board/common/layout.env"))
	if err != nil {
		return fmt.Errorf("read the layout: %w", err)
	}
	m, err := parseMeta(string(layout))
	if err != nil {
		return fmt.Errorf("the layout: %w", err)
	}
	st, err := os.Stat(filepath.Join(b.outDir, b.imageName()+".xz"))
	if err != nil {
		return fmt.Errorf("还没有压缩好的镜像，请先运行 make image。there is no compressed image yet; run make image first: %w", err)
	}
	var slot, root int
	if _, err := fmt.Sscan(m["SLOT_MIB"]+" "+m["ROOT_MIB"], &slot, &root); err != nil {
		return fmt.Errorf("the layout's sizes: %w", err)
	}
	out := figure.New(b.out, b.source)
	if err := errors.Join(
		out.Add("image.download_mb", figure.Round(float64(st.Size())/1e6, 2), "MB", 1),
		out.Add("image.slots_mb", figure.Round(2*float64(slot+root)*(1<<20)/1e6, 2), "MB", 1),
	); err != nil {
		return fmt.Errorf("print the sizes: %w", err)
	}
	return nil
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"homeagent/drivers/web/client"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

type memoryExportCmd struct {
	File  string `arg:"" optional:"" help:"${memory_export_file}"`
	Force bool   `help:"${memory_force}"`
}

// Run writes the whole export or no file at all. What was broken off on the way
// lacks its last line and is refused.
func (c *memoryExportCmd) Run(e *env) error {
	name := c.File
	if name == "" {
		name = "homeagent-memory-" + e.now().Format("2006-01-02") + ".jsonl"
	}
	exists := words.Errorf("文件 %s 已经存在，没有改动；请换个名字，或加 --force 覆盖它",
		"the file %s exists and was left as it is; choose another name, or add --force to replace it", name)
	if name != "-" && !c.Force {
		if _, err := os.Lstat(name); err == nil {
			return exists
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	in, err := e.api.Open(e.ctx, http.MethodGet, "memory/export", nil)
	if err != nil {
		return err
	}
	defer in.Close()
	if name == "-" {
		_, err := copyExport(e.out, in)
		return err
	}
	got, err := c.write(name, in, exists)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, e.words("已写入 %s：%d 行，%d 字节。\n里面是这个家告诉过它的一切，没有加密；请像日记一样保管，不要随手发给别人。\n",
		"Wrote %s: %d lines, %d bytes.\n"+
			"It holds all that this house was told, unencrypted; keep it like a diary and send it to nobody lightly.\n"),
		name, got.lines, got.bytes)
	return nil
}

// write puts an export under its name when all of it is on the disk, readable
// by its owner alone.
func (c *memoryExportCmd) write(name string, in io.Reader, exists error) (got exported, err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, ".export-*")
	if err != nil {
		return got, err
	}
	got, err = copyExport(f, in)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && !c.Force {
		if _, serr := os.Lstat(name); serr == nil { // it has come meanwhile
			err = exists
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return got, errors.Join(err, os.Remove(f.Name()))
	}
	return got, disk.OS{}.SyncDir(dir)
}

// exported tells how large an export is.
type exported struct {
	lines int
	bytes int64
}

// endLine is the last line of an export that is whole.
type endLine struct {
	End *struct {
		Lines int `json:"lines"`
	} `json:"end"`
}

// maxEnd bounds the last line of an export, in bytes.
const maxEnd = 256

// copyExport copies an export and sees that it is whole.
func copyExport(out io.Writer, in io.Reader) (got exported, err error) {
	broken := words.Errorf("导出没有传完，没有写文件；请再试一次，`homectl logs` 可能说明原因",
		"the export broke off and no file was written; try again, `homectl logs` may tell why")
	var last tail
	w := bufio.NewWriterSize(out, 256<<10)
	got.bytes, err = io.Copy(w, io.TeeReader(in, &last))
	got.lines = last.lines
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		broken.Err = err
		return got, broken
	case err != nil:
		return got, err
	}
	var end endLine
	if json.Unmarshal(last.line(), &end) != nil || end.End == nil || end.End.Lines != last.lines-1 {
		return got, broken
	}
	return got, w.Flush()
}

// tail keeps the end of what is written to it, and counts its lines.
type tail struct {
	lines int
	buf   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.lines += bytes.Count(p, []byte("\n"))
	t.buf = append(t.buf, p[max(0, len(p)-maxEnd):]...)
	t.buf = append(t.buf[:0], t.buf[max(0, len(t.buf)-maxEnd):]...)
	return len(p), nil
}

// line is the last whole line.
func (t *tail) line() []byte {
	b, whole := bytes.CutSuffix(t.buf, []byte("\n"))
	if !whole {
		return nil
	}
	return b[bytes.LastIndexByte(b, '\n')+1:]
}

type memoryImportCmd struct {
	File string `arg:"" help:"${memory_import_file}"`
}

func (c *memoryImportCmd) Run(e *env, m *memoryCmd) error {
	in, err := e.open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	type imported struct {
		Entities, Facts, Known, Pairs, Merges, Documents, Knowledge, Turns, Events int

		Kept []string
	}
	body := client.Upload{ContentType: "application/x-ndjson", Body: in}
	return shown(e, m, http.MethodPost, "import", body, func(a imported) {
		fmt.Fprintf(e.out, e.words("导入完毕。新增：事实 %d、实体 %d、文档 %d、知识 %d、"+
			"对话 %d 轮、上下文 %d 条、相像 %d 对、合并 %d 次；已经有的 %d。\n",
			"Imported. New: facts %d, entities %d, documents %d, taught texts %d, "+
				"turns %d, events in the context %d, look-alikes %d, merges %d; known before: %d.\n"),
			a.Facts, a.Entities, a.Documents, a.Knowledge, a.Turns, a.Events, a.Pairs, a.Merges, a.Known)
		if len(a.Kept) > 0 {
			fmt.Fprintf(e.out, e.words("这些知识这里已有不同的内容，保留了这里的：%s\n",
				"These taught texts have another content here, which was kept: %s\n"), strings.Join(a.Kept, e.words("、", ", ")))
		}
	})
}

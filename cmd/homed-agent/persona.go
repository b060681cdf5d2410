package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"homeagent/firmware/words"
)

// maxPersona bounds personal.md, in bytes; what is longer is cut.
const maxPersona = 16 << 10

// persona is the text of personal.md. The file is read again only when it has
// changed, so that the prompt stays byte-stable and a turn waits for nothing.
// No tool can write the file: it lies outside the workspace.
type persona struct {
	path string

	mu     sync.Mutex
	text   string
	notice words.Text // what is wrong with the file, both "" for nothing
	when   time.Time
	size   int64
	inode  uint64
}

func newPersona(path string) *persona { return &persona{path: path} }

// Text is what the file says, "" where there is none or it is no text.
func (p *persona) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh()
	return p.text
}

// Notice tells in the language what is wrong with the file, "" for nothing.
func (p *persona) Notice(lang string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh()
	return p.notice.In(lang)
}

// refresh reads the file if it has changed; p.mu is held.
func (p *persona) refresh() {
	info, err := os.Stat(p.path)
	if err != nil {
		p.text, p.notice, p.when, p.size, p.inode = "", words.Text{}, time.Time{}, 0, 0
		if !errors.Is(err, os.ErrNotExist) {
			p.notice = unreadable(err)
		}
		return
	}
	inode := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = st.Ino
	}
	if !p.when.IsZero() && info.ModTime().Equal(p.when) && info.Size() == p.size && inode == p.inode {
		return
	}
	p.text, p.notice = readPersona(p.path, info)
	p.when, p.size, p.inode = info.ModTime(), info.Size(), inode
}

func unreadable(err error) words.Text {
	return words.Format("personal.md 读不了（%v），现在不用它；请检查这个文件", "personal.md cannot be read (%v) and is not used; check the file", err)
}

// readPersona reads the file: what it says, and what is wrong with it.
func readPersona(path string, info os.FileInfo) (string, words.Text) {
	if !info.Mode().IsRegular() { // a pipe would be waited for without end
		return "", words.Text{ZH: "personal.md 不是普通文件，现在不用它；请换成一个文本文件", EN: "personal.md is no regular file and is not used; put a text file there"}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPersona+1))
	if err != nil {
		return "", unreadable(err)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var notice words.Text
	if len(b) > maxPersona {
		b = b[:maxPersona]
		for n := 1; n < utf8.UTFMax; n++ { // where the last character begins
			if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					b = b[:len(b)-n]
				}
				break
			}
		}
		notice = words.Format("personal.md 超过 %[1]d KiB，只用前面的部分；请写短一些", "personal.md is longer than %[1]d KiB and only its beginning is used; make it shorter", maxPersona>>10)
	}
	if !utf8.Valid(b) || bytes.ContainsRune(b, 0) {
		return "", words.Text{ZH: "personal.md 的内容不是 UTF-8 文字，现在不用它；请用文本编辑器另存为 UTF-8",
			EN: "personal.md holds no UTF-8 text and is not used; save it as UTF-8 in a text editor"}
	}
	return string(b), notice
}

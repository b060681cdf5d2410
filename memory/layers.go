package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"homeagent/memory/distill"
	"homeagent/memory/document"
	"homeagent/memory/knowledge"
	"homeagent/memory/search"
)

// openWait bounds what opening a layer may read.
const openWait = 2 * time.Minute

// openLayers opens what lies behind the conversation: documents, knowledge, and
// the index of all that was said. None of it keeps the house from starting for
// being damaged; what cannot be opened at all does, as a folder that may not be
// written.
func (m *Memory) openLayers(dir string, opts Options) (notices []Notice, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	defer cancel()
	docs := filepath.Join(dir, "memory", "documents")
	if err := os.MkdirAll(docs, 0o700); err != nil {
		return nil, err
	}
	var dn []document.Notice
	m.documents, dn, err = document.Open(docs, document.Options{Now: opts.Now, Log: opts.Log})
	if err != nil {
		return nil, err
	}
	for _, n := range dn {
		notices = append(notices, documentNotice(n))
	}
	taught := filepath.Join(dir, "knowledge")
	if err := os.MkdirAll(taught, 0o700); err != nil {
		return notices, err
	}
	var kn []knowledge.Notice
	m.knowledge, kn, err = knowledge.Open(ctx, taught, filepath.Join(dir, "memory", "knowledge.db"), knowledge.Options{Now: opts.Now, Log: opts.Log})
	if err != nil {
		return notices, err
	}
	for _, n := range kn {
		notices = append(notices, Notice{Zh: n.Zh, En: n.En, Aside: n.Aside, Err: n.Err})
	}
	var in *search.Notice
	if m.index, in, err = search.Open(filepath.Join(dir, "memory", "index.db"), search.Options{Now: opts.Now}); err != nil {
		return notices, err
	}
	if in != nil {
		// A cache: nothing is lost and nobody need be told. It is filled again
		// from the documents and the journal, beside the house.
		m.log.Info("the index of what was said is made anew", "err", in.Err)
		m.keep.rebuild = true
		// Vectors follow the index by its numbers, which begin anew.
		if err := m.dropVectors(); err != nil {
			return notices, err
		}
	}
	m.worker, err = distill.New(distill.Options{
		Journal: undistilled{m.journal, m}, Cursor: distill.StateCursor{DB: m.state}, Sink: distill.GraphSink{Graph: m.graph},
		Reader:    distill.Reader{Cleaner: m.cleaner, NoMemory: m.noMemory},
		Offline:   distill.Tagged{Inner: distill.NewHeuristic(), Tagger: &m.tagger},
		Extractor: &m.extractor, OfflineOnly: m.extractor.absent,
		Interval: opts.DistillInterval, Batch: opts.Batch, Hours: distill.DeepSeekHours(), Now: opts.Now, Log: opts.Log,
	})
	return notices, err
}

// documentNotice words what was found wrong among the documents.
func documentNotice(n document.Notice) Notice {
	name := filepath.Base(n.Path)
	switch {
	case n.Index:
		return Notice{Aside: n.Aside, Err: n.Err,
			Zh: "文档的索引损坏了，已经从文档本身重建，内容没有丢。",
			En: "The documents' index was damaged and has been made anew from the documents; nothing of them is lost."}
	case errors.Is(n.Err, document.ErrNewer):
		return Notice{Aside: n.Aside, Err: n.Err,
			Zh: fmt.Sprintf("文档 %s 是更新版本的程序写的，已留在一边；更新程序后把它改回原名即可。", name),
			En: fmt.Sprintf("The document %s was written by a newer version and is kept aside; update HomeAgent and give it its old name.", name)}
	}
	return Notice{Aside: n.Aside, Err: n.Err,
		Zh: fmt.Sprintf("文档 %s 损坏了，已留在一边（%s），其余的照常使用。", name, filepath.Base(n.Aside)),
		En: fmt.Sprintf("The document %s was damaged and is kept aside as %s; the others are in use.", name, filepath.Base(n.Aside))}
}

package tidy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of work.
type Kind string

// The kinds in the order of a round.
const (
	Distil   Kind = "distil"
	Reindex  Kind = "reindex"
	Cold     Kind = "cold"
	Alike    Kind = "alike"
	Pages    Kind = "pages"
	Indexing Kind = "index"
	Ask      Kind = "ask"
)

// Step is what one kind of work did. Counts that do not apply are 0.
type Step struct {
	Kind Kind `json:"kind"`
	// Facts were taken into the graph, Documents rewritten, absorbed or indexed.
	Facts     int `json:"facts,omitempty"`
	Documents int `json:"documents,omitempty"`
	// Entities were looked at, Nominated pairs are new in the list, Merged ones
	// were merged, Asked ones handed to the model.
	Entities  int `json:"entities,omitempty"`
	Nominated int `json:"nominated,omitempty"`
	Merged    int `json:"merged,omitempty"`
	Asked     int `json:"asked,omitempty"`
	// Waiting pairs are open and were not asked about now.
	Waiting int `json:"waiting,omitempty"`
	// Took is in nanoseconds.
	Took time.Duration `json:"took_ns"`
	// Error is why the work is not done, "" where it is. It is tried again.
	Error string `json:"error,omitempty"`
}

// Report is what one round did.
type Report struct {
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended"`
	Commanded bool      `json:"commanded,omitempty"`
	Steps     []Step    `json:"steps"`
}

// Sum adds the steps up.
func (r Report) Sum() Step {
	var sum Step
	for _, s := range r.Steps {
		sum.Facts += s.Facts
		sum.Documents += s.Documents
		sum.Entities += s.Entities
		sum.Nominated += s.Nominated
		sum.Merged += s.Merged
		sum.Asked += s.Asked
		sum.Waiting += s.Waiting
		sum.Took += s.Took
	}
	return sum
}

// Failed lists the kinds of work that failed.
func (r Report) Failed() (kinds []Kind) {
	for _, s := range r.Steps {
		if s.Error != "" {
			kinds = append(kinds, s.Kind)
		}
	}
	return kinds
}

// kindWords are the kinds for people, Chinese and English.
var kindWords = map[Kind][2]string{
	Distil: {"提取事实", "distilling"}, Reindex: {"核对文档", "checking documents"}, Cold: {"归档旧文档", "archiving old documents"},
	Alike: {"比对相像的名字", "comparing look-alikes"}, Pages: {"更新实体文档", "writing pages"}, Indexing: {"补全索引", "completing the index"},
	Ask: {"询问大模型", "asking the model"},
}

// Text is the report in a sentence or two for people, in lang ("zh", else English).
func (r Report) Text(lang string) string {
	s := r.Sum()
	var parts []string
	for _, p := range []struct {
		n      int
		zh, en string
	}{
		{s.Facts, "新事实 %d 条", "%d new facts"}, {s.Documents, "更新文档 %d 份", "%d documents brought up to date"},
		{s.Merged, "合并 %d 对", "%d pairs merged"}, {s.Nominated, "新发现 %d 对可能相同", "%d new pairs that may be one"},
		{s.Asked, "正在请大模型判断 %d 对", "%d pairs given to the model"}, {s.Waiting, "%d 对待判断", "%d pairs wait"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(both(lang, p.zh, p.en), p.n))
		}
	}
	text := both(lang, "整理完毕，没有新内容。", "Tidied; there was nothing new.")
	if len(parts) > 0 {
		text = both(lang, "整理完毕："+strings.Join(parts, "，")+"。", "Tidied: "+strings.Join(parts, ", ")+".")
	}
	var failed []string
	for _, k := range r.Failed() {
		w := kindWords[k]
		failed = append(failed, both(lang, w[0], w[1]))
	}
	if len(failed) > 0 {
		text += both(lang, "没有完成："+strings.Join(failed, "、")+"，下次再试；原因见日志。",
			" Not finished: "+strings.Join(failed, ", ")+"; it is tried again next time, and the log says why.")
	}
	return text
}

func both(lang, zh, en string) string {
	if lang == "zh" {
		return zh
	}
	return en
}

// Status is what the tidying is at.
type Status struct {
	// Running is true while a round is at work, At the kind of work it is at.
	Running bool `json:"running"`
	At      Kind `json:"at,omitempty"`
	// NextRun is when the next round begins by itself, zero before Start.
	NextRun time.Time `json:"next_run,omitzero"`
	// Last is the last round that ended, nil before the first.
	Last *Report `json:"last,omitempty"`
	// Rounds counts them since the start.
	Rounds int `json:"rounds"`
}

func (s Status) clone() Status {
	if s.Last != nil {
		last := *s.Last
		last.Steps = slices.Clone(last.Steps)
		s.Last = &last
	}
	return s
}

func (t *Tidy) at(k Kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.Running, t.status.At = true, k
}

func (t *Tidy) ended(r Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status.Running, t.status.At = false, ""
	t.status.Last = &r
	t.status.Rounds++
}

package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
	"homeagent/memory/document"
	"homeagent/memory/knowledge"
	"homeagent/memory/search"
)

// found is how many passages doc_query and knowledge_search tell.
const found = 6

// query is the schema of a tool that takes a question.
const query = `{"type":"object","properties":{"query":{"type":"string","description":"question or key words"}},"required":["query"],"additionalProperties":false}`

// documentTools are those of documents and knowledge.
func (m *Memory) documentTools() []ToolReg {
	return []ToolReg{
		{tool.Def{Name: "doc_query", Risk: tool.Read, Touches: tool.None, NoMemory: true,
			Description: "Search earlier conversations and documents that were kept. 查找以前的对话和存下的文档。",
			Parameters:  json.RawMessage(query),
		}, m.toolDocQuery},
		{tool.Def{Name: "doc_commit", Risk: tool.Act, Touches: tool.None,
			Description: "Keep a longer text (a list, a recipe, minutes) as a document under a title; the same title again replaces it. 把较长的文字存成文档。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"content":{"type":"string"}},"required":["title","content"],"additionalProperties":false}`),
		}, m.toolDocCommit},
		{tool.Def{Name: "knowledge_search", Risk: tool.Read, Touches: tool.None, NoMemory: true,
			Description: "Search what the house was taught: manuals, rules, recipes. 查找教给家里的知识：说明书、规矩、菜谱。",
			Parameters:  json.RawMessage(query),
		}, m.toolKnowledgeSearch},
		{tool.Def{Name: "knowledge_create", Risk: tool.Act, Touches: tool.None,
			Description: "Teach the house a text in Markdown under a new name. 用 Markdown 添加一份知识。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"letters, digits, - and _"},"content":{"type":"string"}},"required":["name","content"],"additionalProperties":false}`),
		}, m.toolKnowledgeCreate},
		{tool.Def{Name: "knowledge_list", Risk: tool.Read, Touches: tool.None, NoMemory: true,
			Description: "List what the house was taught. 列出教给家里的知识。",
			Parameters:  json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		}, m.toolKnowledgeList},
	}
}

func (m *Memory) toolDocQuery(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Query string `json:"query"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	lang := langOf(ctx, a.Query)
	hits, err := m.index.Search(ctx, search.Query{Text: a.Query, Limit: found})
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	if len(hits) == 0 {
		return tool.Result{Text: both(lang, "没有找到相关的对话或文档。", "No conversation or document is about that.")}, nil
	}
	var b strings.Builder
	for _, h := range hits {
		if h.Doc != "" {
			// What is read stays warm; the text itself came from the index.
			if _, err := m.documents.Get(ctx, h.Doc); err != nil && !errors.Is(err, document.ErrNotFound) {
				m.log.Warn("a document that was found could not be read", "doc", h.Doc, "err", err)
			}
		}
		fmt.Fprintf(&b, "- %s\t%s\n", clip(said(h.Passage)), place(h.Passage, lang))
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// said is a passage with who said it.
func said(p search.Passage) string {
	text := strings.Join(strings.Fields(p.Text), " ")
	if p.Speaker != "" {
		return p.Speaker + ": " + text
	}
	return text
}

// place tells when a passage was said and which document holds it.
func place(p search.Passage, lang string) string {
	when := p.Time.Format("2006-01-02")
	if p.Time.IsZero() {
		when = both(lang, "日期不明", "no date")
	}
	if p.Doc == "" {
		return both(lang, "（"+when+" 的对话）", "(said "+when+")")
	}
	return both(lang, "（"+when+"，文档 "+p.Doc+"）", "("+when+", document "+p.Doc+")")
}

func (m *Memory) toolDocCommit(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Title   string `json:"title"`
		Content string `json:"content"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	lang := langOf(ctx, a.Title+a.Content)
	if in, ok := plugin.InputFrom(ctx); ok && in.NoMemory {
		return tool.Result{}, errors.New(both(lang, "这次对话不留记忆，没有记下来。", "this turn leaves no memory, so nothing was kept"))
	}
	if strings.TrimSpace(a.Title) == "" || strings.TrimSpace(a.Content) == "" {
		return tool.Result{}, errors.New(both(lang, "文档要有标题和内容。", "a document needs a title and a content"))
	}
	id, err := m.titled(ctx, a.Title)
	if err == nil {
		id, err = m.documents.Put(ctx, document.Document{ID: id, Title: a.Title, Origin: document.Commit, Text: a.Content})
	}
	if err == nil {
		err = m.indexDocument(ctx, id)
	}
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	return tool.Result{Text: both(lang, "存好了，文档 "+id+"。", "Kept as document "+id+".")}, nil
}

// titled is the id of the document that bears a title, "" if none does.
func (m *Memory) titled(ctx context.Context, title string) (id string, err error) {
	err = m.documents.List(ctx, func(d document.Meta) bool {
		if d.Origin == document.Commit && d.Title == title {
			id = d.ID
		}
		return id == ""
	})
	return id, err
}

func (m *Memory) toolKnowledgeSearch(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Query string `json:"query"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	lang := langOf(ctx, a.Query)
	hits, err := m.knowledge.Search(ctx, a.Query, found)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	if len(hits) == 0 {
		return tool.Result{Text: both(lang, "没有学过这方面的知识。", "Nothing that was taught is about that.")}, nil
	}
	var b strings.Builder
	for _, h := range hits {
		from := h.Name
		if h.Heading != "" {
			from += " › " + h.Heading
		}
		fmt.Fprintf(&b, "## %s\n%s\n\n", from, strings.TrimSpace(h.Text))
	}
	return tool.Result{Text: strings.TrimSpace(b.String())}, nil
}

func (m *Memory) toolKnowledgeCreate(ctx context.Context, call tool.Call) (tool.Result, error) {
	var a struct {
		Name    string `json:"name"`
		Content string `json:"content"`
	}
	if err := args(ctx, call, &a); err != nil {
		return tool.Result{}, err
	}
	lang := langOf(ctx, a.Name+a.Content)
	err := m.knowledge.Create(ctx, a.Name, a.Content)
	if err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	return tool.Result{Text: both(lang, "学会了，存为 "+a.Name+"。", "Learnt as "+a.Name+".")}, nil
}

func (m *Memory) toolKnowledgeList(ctx context.Context, call tool.Call) (tool.Result, error) {
	lang := langOf(ctx, "")
	if _, err := m.knowledge.Scan(ctx); err != nil {
		return tool.Result{}, m.fail(ctx, call, lang, err)
	}
	var b strings.Builder
	for _, e := range m.knowledge.List() {
		if e.Err != nil {
			fmt.Fprintf(&b, "- %s\t%s\n", e.Name, both(lang, "（没有收进来："+explainKnowledge(e.Err, lang)+"）", "(not taken in: "+explainKnowledge(e.Err, lang)+")"))
			continue
		}
		fmt.Fprintf(&b, "- %s\t(%d B, %s)\n", e.Name, e.Size, e.Modified.Format("2006-01-02"))
	}
	if b.Len() == 0 {
		return tool.Result{Text: both(lang, "还没有知识。把 Markdown 放进 knowledge/<名字>/content.md，或用 knowledge_create。", "Nothing was taught yet. Put Markdown into knowledge/<name>/content.md, or use knowledge_create.")}, nil
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// explainKnowledge puts an error of package knowledge into words, "" for others.
func explainKnowledge(err error, lang string) string {
	for _, w := range []struct {
		err    error
		zh, en string
	}{
		{knowledge.ErrName, "名字只能有文字、数字、- 和 _，请换一个。", "A name has letters, digits, - and _ only; choose another."},
		{knowledge.ErrExists, "已经有这个名字的知识，内容不同。请换个名字，或直接改它的 content.md。", "That name has another content already. Choose another, or edit its content.md."},
		{knowledge.ErrNotFound, "没有这个名字的知识。", "Nothing was taught under that name."},
		{knowledge.ErrText, "内容不是 UTF-8 的文字。请另存为 UTF-8。", "The content is not text in UTF-8; save it as UTF-8."},
		{knowledge.ErrTooBig, fmt.Sprintf("内容最多 %d MB。请分成几份。", knowledge.MaxContent>>20), fmt.Sprintf("A content has at most %d MB; make several.", knowledge.MaxContent>>20)},
		{knowledge.ErrOutside, "链接指到了文件夹外面，不读。请把文件本身放进来。", "A link leads out of the folder and is not followed; put the file itself there."},
		{knowledge.ErrKind, "那不是普通文件。", "That is no ordinary file."},
		{knowledge.ErrPlace, "文字要放在自己的文件夹里：knowledge/<名字>/content.md。", "A text needs a folder of its own: knowledge/<name>/content.md."},
		{knowledge.ErrTooMany, fmt.Sprintf("最多 %d 份知识。请删掉一些。", knowledge.MaxNames), fmt.Sprintf("At most %d pieces of knowledge; remove some.", knowledge.MaxNames)},
	} {
		if errors.Is(err, w.err) {
			return both(lang, w.zh, w.en)
		}
	}
	return ""
}

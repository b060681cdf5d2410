package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"homeagent/memory/disk"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/state"
)

// Notice tells people of a loss found at the start: what happened, what became
// of the old file, what to do.
type Notice struct {
	Zh, En string
	// Aside is where the old file lies, "" where nothing was moved.
	Aside string
	// Err is for the log.
	Err error
}

// Text is the notice in a language, "zh" or else English.
func (n Notice) Text(lang string) string { return both(lang, n.Zh, n.En) }

// String is the notice in both languages.
func (n Notice) String() string { return n.Zh + " " + n.En }

func both(lang, zh, en string) string {
	if lang == "zh" {
		return zh
	}
	return en
}

func stateNotice(n state.Notice) Notice {
	aside := filepath.Base(n.Aside)
	return Notice{Aside: n.Aside, Err: n.Err,
		Zh: fmt.Sprintf("state.db 已损坏，旧文件留作 %s，现在从空白的对话开始，插件保存的内容也没有了。要找回，请停机后用快照里的 state.db 替换。", aside),
		En: fmt.Sprintf("state.db was damaged; the old file is kept as %s and a new one begun, so the conversation and what plugins had stored start empty. To get them back, stop HomeAgent and put state.db of a snapshot in its place.", aside)}
}

func graphNotice(n graph.Notice) Notice {
	aside := filepath.Base(n.Aside)
	if errors.Is(n.Err, graph.ErrNewer) {
		return Notice{Aside: n.Aside, Err: n.Err,
			Zh: fmt.Sprintf("memory/graph.db 是更新版本的程序写的，这个版本读不了；它留作 %s，现在从空白的记忆开始。要找回，请更新程序，停机后把它改回原名。", aside),
			En: fmt.Sprintf("memory/graph.db was written by a newer version and cannot be read by this one; it is kept as %s and a new one begun. To get it back, update HomeAgent, stop it and give the file its old name.", aside)}
	}
	if strings.HasSuffix(n.Path, "-wal") || strings.HasSuffix(n.Path, "-shm") {
		return Notice{Aside: n.Aside, Err: n.Err,
			Zh: fmt.Sprintf("graph.db 旁边的日志文件坏了，已留作 %s；记忆还在，最后记下的几条可能没有了，请再说一遍。", aside),
			En: fmt.Sprintf("The log beside graph.db was damaged and is kept as %s; what was remembered is there, but the last facts may be missing: tell them again.", aside)}
	}
	return Notice{Aside: n.Aside, Err: n.Err,
		Zh: fmt.Sprintf("memory/graph.db 已损坏，旧文件留作 %s，现在从空白的记忆开始。要找回，请停机后用快照里的 graph.db 替换。", aside),
		En: fmt.Sprintf("memory/graph.db was damaged; the old file is kept as %s and a new one begun, so remembered facts start empty. To get them back, stop HomeAgent and put graph.db of a snapshot in its place.", aside)}
}

func eventsNotice(n int) Notice {
	return Notice{Err: fmt.Errorf("%d events of the context do not parse", n),
		Zh: fmt.Sprintf("对话里有 %d 条记录读不出来，已移到一边，其余的照常使用。", n),
		En: fmt.Sprintf("%d entries of the conversation could not be read and were moved aside; the rest is in use.", n)}
}

// Explain puts an error of this package into words for people: what happened
// and what to do, in lang ("zh", else English).
func Explain(err error, lang string) string {
	switch {
	case err == nil:
		return ""
	case disk.IsFull(err):
		return both(lang, "磁盘满了，没有记下来。请删掉一些文件或换更大的卡，再试一次。", "The disk is full and nothing was kept. Make room or use a larger card, then try again.")
	case errors.Is(err, state.ErrLocked):
		return both(lang, "另一个 HomeAgent 正在使用这个数据目录。请先停掉它，或换一个目录（-data）。", "Another HomeAgent is using this data folder. Stop it first, or choose another folder (-data).")
	case errors.Is(err, state.ErrReadOnly), errors.Is(err, graph.ErrReadOnly), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return both(lang, "数据目录不可写。请检查目录的权限，或看看卡是否变成了只读。", "The data folder may not be written. Check its permissions, or whether the card has turned read-only.")
	case errors.Is(err, graph.ErrBusy):
		return both(lang, "记忆正被别的程序占用。请关掉打开 graph.db 的程序，再试一次。", "Another program holds the memory. Close what has graph.db open, then try again.")
	case errors.Is(err, graph.ErrTooLong):
		return both(lang, fmt.Sprintf("一条事实的每一部分最多 %d 字节。请写短一些，或拆成几条。", graph.MaxField), fmt.Sprintf("Each part of a fact has at most %d bytes. Make it shorter, or several facts.", graph.MaxField))
	case errors.Is(err, graph.ErrEmpty):
		return both(lang, "一条事实要有主语，还要有关系或宾语。请补全后再试。", "A fact needs a subject, and a relation or an object. Fill them in and try again.")
	case errors.Is(err, graph.ErrNoCriteria):
		return both(lang, "没有说要忘掉什么。请在 criteria 里给出 query 或 subject。", "Nothing says what to forget. Give query or subject in criteria.")
	case errors.Is(err, ErrShort):
		return both(lang, "这几个字太短，到处都有，彻底忘掉会误删。请写得完整一些。", "Those words are too short and stand nearly everywhere. Write more of them.")
	case errors.Is(err, ErrExportNewer):
		return both(lang, "这个备份是更新版本的程序写的。请先更新 HomeAgent，再导入。", "A newer version wrote this export. Update HomeAgent, then import it.")
	case errors.Is(err, ErrExport):
		return both(lang, "这不是完整的记忆备份，什么也没有导入。请用 homectl memory export 写出的整个文件。", "This is no whole export of memory, and nothing was imported. Use the whole file that homectl memory export has written.")
	case errors.Is(err, document.ErrTooBig):
		return both(lang, fmt.Sprintf("一份文档最多 %d MB。请分成几份。", document.MaxText>>20), fmt.Sprintf("A document has at most %d MB; make several.", document.MaxText>>20))
	case errors.Is(err, graph.ErrDamaged), errors.Is(err, state.ErrDamaged):
		return both(lang, "记忆的文件损坏了。请重启 HomeAgent：它会把坏文件留在一边，重新开始。", "The memory's file is damaged. Restart HomeAgent: it keeps the bad file aside and begins anew.")
	}
	if text := explainMerge(err, lang); text != "" {
		return text
	}
	if text := explainKnowledge(err, lang); text != "" {
		return text
	}
	return both(lang, "记忆出了问题，详情见日志。请再试一次。", "Memory failed; the log has the details. Try again.")
}

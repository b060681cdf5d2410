package queue

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"homeagent/agent/plugin"
	"homeagent/memory/disk"
)

// Bounds of one input and of what waits.
const (
	MaxText   = 256 << 10 // bytes of text an input
	MaxMedia  = 8 << 20   // bytes of media an input, together
	MaxParts  = 16        // pieces of media an input
	MaxQueued = 1000      // inputs waiting
	MaxHeld   = 64 << 20  // bytes of text and media waiting

	maxName = 256 // bytes of a source, channel, user, group, media name or type

	// reserved is the part of MaxQueued that internal inputs leave to users.
	reserved = 100
)

var (
	// ErrFull is wrapped when MaxQueued or MaxHeld is reached.
	ErrFull = errors.New("queue is full")
	// ErrClosed is wrapped by a queue that was closed.
	ErrClosed = errors.New("queue is closed")
	// ErrInput is wrapped when an input is refused for what it holds.
	ErrInput = errors.New("input refused")
)

// fault makes an error for the person who sent in.
func fault(in plugin.Input, status int, err error, zh, en string) *plugin.Fault {
	title := en
	if LangOf(in) == "zh" {
		title = zh
	}
	return &plugin.Fault{Status: status, Title: title, Err: err}
}

// LangOf is the language of an input: what its source says, else what its text
// looks like, else Chinese.
func LangOf(in plugin.Input) string {
	if in.Lang == "zh" || in.Lang == "en" {
		return in.Lang
	}
	if l := plugin.LangOf(in.Payload); l != "" {
		return l
	}
	return "zh"
}

// check refuses what no turn could deal with.
func check(in plugin.Input) error {
	size := 0
	for _, m := range in.Media {
		size += len(m.Data)
	}
	names := []string{in.ID, in.Source, in.Channel, in.UserID, in.GroupID, in.Lang}
	for _, m := range in.Media {
		names = append(names, m.MIME, m.Name)
	}
	switch {
	case in.Source == "":
		return fault(in, 400, fmt.Errorf("%w: no source", ErrInput),
			"这条消息没有写明来源（source）。请补上后重发。", "This message names no source. Add one and send it again.")
	case in.Type != plugin.Text && in.Type != plugin.Media:
		return fault(in, 400, fmt.Errorf("%w: type %q", ErrInput, in.Type),
			"消息类型只能是 text 或 media。请改正后重发。", "The type of a message is text or media. Correct it and send it again.")
	case len(in.Payload) > MaxText:
		return fault(in, 413, fmt.Errorf("%w: %d bytes of text", ErrInput, len(in.Payload)),
			fmt.Sprintf("这段文字太长（%d KB），一次最多 %d KB。请存成文件发送。", len(in.Payload)>>10, MaxText>>10),
			fmt.Sprintf("This text is too long (%d KB, the limit is %d KB). Send it as a file.", len(in.Payload)>>10, MaxText>>10))
	case !plain(in.Payload):
		return fault(in, 400, fmt.Errorf("%w: text is not valid UTF-8 or holds a NUL", ErrInput),
			"这段文字里有不是文字的字节（不是 UTF-8，或含有 NUL）。请改用 UTF-8 编码，或存成文件发送。",
			"This text holds bytes that are no text (not UTF-8, or a NUL). Encode it as UTF-8, or send it as a file.")
	case in.Type == plugin.Text && strings.TrimSpace(in.Payload) == "" && len(in.Media) == 0:
		return fault(in, 400, fmt.Errorf("%w: empty", ErrInput),
			"这条消息是空的。请写点什么再发。", "This message is empty. Write something and send it again.")
	case in.Type == plugin.Media && len(in.Media) == 0:
		return fault(in, 400, fmt.Errorf("%w: no media", ErrInput),
			"这条消息没有附件。请附上文件再发。", "This message has no file with it. Attach one and send it again.")
	case size > MaxMedia || len(in.Media) > MaxParts:
		return fault(in, 413, fmt.Errorf("%w: %d bytes in %d pieces of media", ErrInput, size, len(in.Media)),
			fmt.Sprintf("附件太大（%d 个，共 %d KB），一次最多 %d 个、%d MB。请压缩或分几次发送。", len(in.Media), size>>10, MaxParts, MaxMedia>>20),
			fmt.Sprintf("The files are too large (%d of them, %d KB; the limit is %d and %d MB). Compress them or send them one by one.",
				len(in.Media), size>>10, MaxParts, MaxMedia>>20))
	}
	for _, n := range names {
		if len(n) > maxName || !plain(n) {
			return fault(in, 400, fmt.Errorf("%w: a name of %d bytes", ErrInput, len(n)),
				"这条消息的来源、频道、用户或文件名太长或含有非法字节。请改正后重发。",
				"A source, channel, user or file name of this message is too long or holds illegal bytes. Correct it and send it again.")
		}
	}
	return nil
}

// plain reports whether s is text.
func plain(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// fullFault is the error of a queue that takes no more.
func fullFault(in plugin.Input) error {
	return fault(in, 503, ErrFull,
		fmt.Sprintf("排队的消息太多了（上限 %d 条）。请等前面的处理完再发；要停下正在做的事，请说“停”。", MaxQueued),
		fmt.Sprintf("Too many messages are waiting (the limit is %d). Send it again when some are done; say \"stop\" to end what is running.", MaxQueued))
}

// writeFault turns an error of the log into one for people.
func writeFault(in plugin.Input, err error) error {
	switch {
	case disk.IsFull(err):
		return fault(in, 507, err,
			"存储空间满了，这条消息没有收下。请删掉一些文件（或旧快照）后重发。",
			"The disk is full, so this message was not taken. Delete some files (or old snapshots) and send it again.")
	case errors.Is(err, disk.ErrClosed):
		return fault(in, 503, fmt.Errorf("%w: %w", ErrClosed, err),
			"正在关机或重启，这条消息没有收下。请稍后重发。", "The agent is stopping, so this message was not taken. Send it again in a moment.")
	default:
		return fault(in, 500, err,
			"写不进存储，这条消息没有收下。请检查数据目录是否可写、存储卡是否损坏，然后重发。",
			"Storage cannot be written, so this message was not taken. Check the data folder and the card, then send it again.")
	}
}

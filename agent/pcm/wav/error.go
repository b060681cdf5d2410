package wav

import "fmt"

// Code says what is wrong with a file; callers decide by it.
type Code string

const (
	// Empty is a file of no bytes.
	Empty Code = "empty"
	// NotWAV does not begin like a WAV file.
	NotWAV Code = "not_wav"
	// Damaged begins like a WAV file but its header cannot be followed.
	Damaged Code = "damaged"
	// NoSound has no sound chunk.
	NoSound Code = "no_sound"
	// Unsupported is a WAV file in an encoding, rate, width or channel count
	// that is not read here.
	Unsupported Code = "unsupported"
	// Truncated ends before the length that its header claims.
	Truncated Code = "truncated"
	// TooLong would pass the format's limit of 4 GiB; only a Writer gives it.
	TooLong Code = "too_long"
	// Unreadable is an error of the stream below, not of the file's content.
	Unreadable Code = "unreadable"
)

// Error is a file that cannot be read or written, or a remark about one that
// could be read in part.
type Error struct {
	Code Code
	// Detail is the finding in English for logs, such as "codec 0x0055 (MP3)".
	Detail string
	// Err is the cause of an Unreadable, else nil.
	Err error
}

func (e *Error) Error() string {
	s := "wav: " + string(e.Code)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// words holds a sentence a code for people; %s takes the detail.
var words = map[Code]struct{ zh, en string }{
	Empty:       {"这个文件是空的。请重新录音，或换一个文件。", "The file is empty. Record it again or choose another file."},
	NotWAV:      {"这不是 WAV 文件。请先把它转换成 WAV（PCM 16 位）再试。", "This is not a WAV file. Convert it to WAV (PCM, 16 bit) and try again."},
	Damaged:     {"这个 WAV 文件的头部已损坏（%s）。请重新导出后再试。", "The header of this WAV file is damaged (%s). Export it again and retry."},
	NoSound:     {"这个 WAV 文件里没有声音数据。请重新录音，或换一个文件。", "This WAV file holds no sound. Record it again or choose another file."},
	Unsupported: {"不支持这种 WAV 格式（%s）。请转换成 PCM 16 位、8 至 192 kHz 再试。", "This kind of WAV file is not supported (%s). Convert it to PCM, 16 bit, 8 to 192 kHz, and try again."},
	Truncated:   {"这个 WAV 文件不完整（%s），已使用其中能读取的部分。如有缺失，请重新录音。", "The WAV file ends early (%s); what is there was used. Record it again if something is missing."},
	TooLong:     {"录音超过了 WAV 文件 4 GiB 的上限。请分成几段保存。", "The recording passes the 4 GiB limit of a WAV file. Save it in several parts."},
	Unreadable:  {"读取或写入文件时出错。请检查存储设备后再试。", "The file could not be read or written. Check the storage and try again."},
}

// In returns a sentence for people in the language, "zh" or else English, that
// says what is wrong and what to do.
func (e *Error) In(lang string) string {
	w, ok := words[e.Code]
	if !ok {
		return e.Error()
	}
	s := w.en
	if lang == "zh" {
		s = w.zh
	}
	if e.Code == Damaged || e.Code == Unsupported || e.Code == Truncated {
		return fmt.Sprintf(s, e.Detail)
	}
	return s
}

package card

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/firmware/words"
)

// FileName is the file that people write.
const FileName = "homeagent.txt"

// maxFile bounds each file that is read from the card.
const maxFile = 256 << 10

// keys of homeagent.txt, as they stand in its template.
var keys = []string{"wifi_name", "wifi_password", "wifi_country", "host_name", "language", "time_zone", "llm_url", "llm_key", "ssh_key"}

// takenComment stands above the line of a secret that was taken over.
const takenComment = "# 已取走，保存在数据分区；要更换，就把新的写在下一行 / taken over and kept on the data partition; to change it, write a new one in the next line"

const bom = "\ufeff"

// entry is one line `key = value`.
type entry struct {
	key   string
	value value
	// start is where the line begins, from and to enclose the value with its blanks.
	start, from, to int
	// taken: takenComment stands in the line before.
	taken bool
}

// textFile is homeagent.txt with the places of its values.
type textFile struct {
	data    []byte
	entries []entry
}

// parseText reads homeagent.txt. Lines that cannot be used are named.
func parseText(data []byte) (textFile, []words.Text) {
	f := textFile{data: data}
	if len(data) > maxFile {
		return f, []words.Text{words.Format("%s 有 %d 字节，太大了，没有读；请检查是不是拿错了文件",
			"%s has %d bytes, too many to be read; is it the right file?", FileName, len(data))}
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return f, []words.Text{words.Format("%s 存成了 UTF-16，没有读；请用编辑器另存为 UTF-8",
			"%s was saved as UTF-16 and is not read; save it as UTF-8 in your editor", FileName)}
	}
	var notes []words.Text
	at, number, before := 0, 0, ""
	if bytes.HasPrefix(data, []byte(bom)) {
		at = len(bom)
	}
	for at < len(data) {
		number++
		start, end := at, len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i
		}
		at = end + 1
		if end > start && data[end-1] == '\r' {
			end--
		}
		line := string(data[start:end])
		e, ok, why := parseLine(line, number)
		if why != nil {
			notes = append(notes, *why)
		}
		if ok {
			e.start, e.from, e.to = start, start+e.from, end
			e.taken = before == takenComment
			if why := f.twice(e); why != nil {
				notes = append(notes, *why)
			}
			f.entries = append(f.entries, e)
		}
		before = line
	}
	return f, notes
}

// parseLine reads one line. The entry's from is counted from the line's start.
// An empty line or a comment is neither an entry nor a fault.
func parseLine(line string, number int) (entry, bool, *words.Text) {
	say := func(zh, en string, args ...any) *words.Text {
		args = append([]any{value{file: FileName, line: number}.where()}, args...)
		t := words.Format("%s："+zh, "%s: "+en, args...)
		return &t
	}
	text := strings.Trim(line, " \t")
	if text == "" || strings.HasPrefix(line, "#") {
		return entry{}, false, nil
	}
	if !utf8.ValidString(line) {
		return entry{}, false, say("不是 UTF-8 文字，已略过；请用编辑器把文件另存为 UTF-8", "is not UTF-8 and is left out; save the file as UTF-8 in your editor")
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
		return entry{}, false, say("有不可见的控制字符，已略过；请把这一行重新打一遍", "holds control characters and is left out; type the line anew")
	}
	if strings.HasPrefix(text, "-----BEGIN") {
		return entry{}, false, say("这像是私钥，已略过；私钥不要放在这里，ssh_key 要的是公钥（.pub 文件里的那一行），请删掉这些行",
			"looks like a private key and is left out; never put one here. ssh_key wants the public key, the line in the .pub file; remove these lines")
	}
	i := strings.IndexAny(line, "=:＝：")
	if i < 0 {
		return entry{}, false, say("看不懂，已略过；请写成“名称=值”，注释以 # 开头", "is not understood and is left out; write key=value, and begin a comment with #")
	}
	_, width := utf8.DecodeRuneInString(line[i:])
	key := strings.ReplaceAll(strings.ToLower(strings.Trim(line[:i], " \t")), "-", "_")
	if !slices.Contains(keys, key) {
		if s := words.Nearest(key, keys); s != "" {
			return entry{}, false, say("不认识这个名称，已略过；是不是 %s？", "has an unknown key and is left out; did you mean %s?", s)
		}
		return entry{}, false, say("不认识这个名称，已略过；可以用的有 %s", "has an unknown key and is left out; the keys are %s", strings.Join(keys, ", "))
	}
	v := value{text: strings.Trim(line[i+width:], " \t"), file: FileName, line: number}
	return entry{key: key, value: v, from: i + width}, true, nil
}

// twice says that an earlier line has a value for the same key.
func (f textFile) twice(e entry) *words.Text {
	if e.key == "ssh_key" || e.value.text == "" {
		return nil
	}
	for _, o := range f.entries {
		if o.key == e.key && o.value.text != "" {
			t := words.Format("%s：%s 在第 %d 行已经写过，以那一行为准；请删掉多余的一行",
				"%s: %s stands already in line %d, which counts; remove the other", e.value.where(), e.key, o.value.line)
			return &t
		}
	}
	return nil
}

// draft is what the file asks for: of each key the first line with a value.
func (f textFile) draft() draft {
	var d draft
	of := map[string]*value{
		"wifi_name": &d.wifiName, "wifi_password": &d.wifiPassword, "wifi_country": &d.wifiCountry, "host_name": &d.hostName,
		"language": &d.language, "time_zone": &d.timeZone, "llm_url": &d.llmURL, "llm_key": &d.llmKey,
	}
	for _, e := range f.entries {
		switch {
		case e.key == "ssh_key" && e.value.text != "":
			d.sshKeys = append(d.sshKeys, e.value)
		case e.key != "ssh_key" && of[e.key].text == "":
			*of[e.key] = e.value
		}
		switch {
		case e.key == "wifi_password" && e.taken && e.value.text == "":
			d.wifiTaken = true
		case e.key == "llm_key" && e.taken && e.value.text == "":
			d.llmTaken = true
		}
	}
	return d
}

// blank returns the file with the values of the keys emptied and takenComment
// above each; every other byte is as it was.
func (f textFile) blank(secrets ...string) []byte {
	end := "\n"
	if i := bytes.IndexByte(f.data, '\n'); i > 0 && f.data[i-1] == '\r' {
		end = "\r\n"
	}
	var out []byte
	done := 0
	for _, e := range f.entries {
		if e.value.text == "" || !slices.Contains(secrets, e.key) {
			continue
		}
		out = append(out, f.data[done:e.start]...)
		if !e.taken {
			out = append(out, takenComment+end...)
		}
		out = append(out, f.data[e.start:e.from]...)
		done = e.to
	}
	return append(out, f.data[done:]...)
}

package knowledge

import (
	"errors"
	"fmt"
	"path/filepath"

	"homeagent/memory/disk"
)

// Notice tells of something in the folder that could not be taken in, or, with
// Aside, of a file that was set aside.
type Notice struct {
	// Name is the folder's or file's name below the knowledge folder.
	Name string
	// Zh and En say what it is and what to do.
	Zh, En string
	// Aside is where an old file lies, "" where nothing was moved.
	Aside string
	// Err wraps one of this package's errors, or says what the system said.
	Err error
}

// String is the notice in both languages.
func (n Notice) String() string { return n.Zh + " " + n.En }

// notice puts a problem into words.
func notice(name string, err error) Notice {
	zh, en := explain(name, err)
	return Notice{Name: name, Zh: zh, En: en, Err: err}
}

func explain(name string, err error) (zh, en string) {
	file := filepath.Join("knowledge", name, content)
	switch {
	case errors.Is(err, ErrText):
		return fmt.Sprintf("%s 不是 UTF-8 文本，没有收进知识库。请用编辑器另存为 UTF-8。", file),
			fmt.Sprintf("%s is no text in UTF-8 and was not taken in. Save it as UTF-8 in your editor.", file)
	case errors.Is(err, ErrTooBig):
		return fmt.Sprintf("%s 超过 %d MiB，没有收进知识库。请拆成几份。", file, MaxContent>>20),
			fmt.Sprintf("%s has more than %d MiB and was not taken in. Split it into several.", file, MaxContent>>20)
	case errors.Is(err, ErrName):
		return fmt.Sprintf("knowledge 里的 %q 名字不能用。请改名，只用汉字、字母、数字、- 和 _。", name),
			fmt.Sprintf("%q in the knowledge folder has a name that cannot be used. Rename it: letters, digits, - and _ only.", name)
	case errors.Is(err, ErrOutside):
		return fmt.Sprintf("knowledge/%s 是指向别处的链接，没有收进知识库。请把内容复制进来。", name),
			fmt.Sprintf("knowledge/%s is a link that leads elsewhere and was not taken in. Copy the content here instead.", name)
	case errors.Is(err, ErrKind):
		return fmt.Sprintf("%s 不是普通文件，没有收进知识库。请换成文本文件。", file),
			fmt.Sprintf("%s is no ordinary file and was not taken in. Put a text file in its place.", file)
	case errors.Is(err, ErrPlace):
		return fmt.Sprintf("knowledge/%s 要放进自己的文件夹才会收进知识库：knowledge/名字/%s。", name, content),
			fmt.Sprintf("knowledge/%s is taken in once it lies in a folder of its own: knowledge/NAME/%s.", name, content)
	case errors.Is(err, ErrTooMany):
		return fmt.Sprintf("知识库里超过 %d 份，多出来的没有收进去。请合并或删掉一些。", MaxNames),
			fmt.Sprintf("There are more than %d pieces of knowledge; the others were not taken in. Join or remove some.", MaxNames)
	case disk.IsFull(err):
		return fmt.Sprintf("磁盘满了，%s 没有收进知识库。请腾出空间。", file),
			fmt.Sprintf("The disk is full and %s was not taken in. Make room.", file)
	}
	return fmt.Sprintf("%s 读不了，没有收进知识库。请检查它的权限，或换一份新的。", file),
		fmt.Sprintf("%s could not be read and was not taken in. Check its permissions, or put a new one in its place.", file)
}

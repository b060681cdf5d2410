package card

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"homeagent/firmware/note"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// Options say which card is read and where its settings go.
type Options struct {
	// Setup is the boot partition's folder, Data the data partition's.
	Setup, Data string
	// Zones is /usr/share/zoneinfo; nil means that there is none.
	Zones fs.FS
	// FS takes the writes; nil is the machine's own.
	FS disk.FS
	// Writable calls write while the boot partition can be written; nil calls it as it is.
	Writable func(write func() error) error
}

// Report is what Run did.
type Report struct {
	// Notes are for the people of the house.
	Notes []note.Note
	// Done are lines for the log, in English and without secrets.
	Done []string
}

// Run takes over what the boot partition says. It never fails as a whole: what
// cannot be read, understood or written is told in the notes.
func Run(o Options) Report {
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.Writable == nil {
		o.Writable = func(write func() error) error { return write() }
	}
	var r Report
	c := checker{zones: o.Zones}
	d, text, emptyable := c.read(o.Setup)
	s := c.check(d)
	a := applier{data: o.Data, fs: o.FS, taken: taken{}, notes: c.notes}
	if b, err := os.ReadFile(a.system("card.json")); err == nil {
		a.taken = parseTaken(b)
	}
	out := a.apply(s)
	a.refuse(d, s.SSHOff)
	a.blank(o, text, emptyable, out, d)
	r.Notes, r.Done = a.notes, a.done
	return r
}

// read collects what the files of the boot partition ask for, and which of
// Imager's files hold secrets.
func (c *checker) read(dir string) (draft, textFile, []source) {
	var text textFile
	data, err := readFile(filepath.Join(dir, FileName))
	switch {
	case err == nil:
		var faults []words.Text
		text, faults = parseText(data)
		for i, t := range faults {
			if i == maxFaults {
				c.quiet("%s 里还有 %d 行有问题", "%s has %d more lines with faults", FileName, len(faults)-i)
				break
			}
			c.notes = append(c.notes, note.FromText(t, false))
		}
	case !errors.Is(err, os.ErrNotExist):
		c.quiet("%s 读不出来（%v）；请在电脑上检查这张卡", "%s cannot be read (%v); check the card in a computer", FileName, err)
	}
	d := text.draft()
	var secrets []source
	for _, f := range foreign {
		data, err := readFile(filepath.Join(dir, f.name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var theirs draft
		if err == nil {
			theirs, err = f.read(f.name, data)
		}
		if err != nil {
			t := unreadable(f.name, err)
			var said *words.Error
			if errors.As(err, &said) {
				t = said
			}
			c.notes = append(c.notes, note.FromText(t.Text, false))
			continue
		}
		if theirs.secret {
			secrets = append(secrets, source{name: f.name, wifi: theirs.wifiPassword.text != ""})
		}
		d = d.over(theirs)
	}
	return d, text, secrets
}

// source is one of Imager's files that holds a secret.
type source struct {
	name string
	wifi bool
}

// maxFaults of homeagent.txt are named one by one.
const maxFaults = 12

// readFile reads a regular file of bounded size; one that is larger is
// returned as far as its bound and one byte.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// refuse says what Imager asks for and this box does not have.
func (a *applier) refuse(d draft, sshOff bool) {
	if d.login {
		a.notes = append(a.notes, note.FromText(words.Text{
			ZH: "Raspberry Pi Imager 里设置的用户名和密码没有用上：这台设备没有用密码的登录。需要远程登录，请在 homeagent.txt 的 ssh_key 后面写上公钥",
			EN: "the user and password set in Raspberry Pi Imager are not used: this box has no login with a password. For a remote login write a public key after ssh_key in homeagent.txt"}, false))
	}
	if d.ssh && !sshOff && !exists(a.system("ssh", "authorized_keys")) {
		a.notes = append(a.notes, note.FromText(words.Text{
			ZH: "启动分区要求打开 SSH，但没有公钥，所以没有打开；请在 homeagent.txt 的 ssh_key 后面写上公钥",
			EN: "the boot partition asks for SSH but holds no key, so it stays off; write a public key after ssh_key in homeagent.txt"}, false))
	}
}

// blank removes from the card what lies on the data partition now.
func (a *applier) blank(o Options, text textFile, sources []source, out outcome, d draft) {
	var keys []string
	if out.wifi && d.wifiPassword.file == FileName {
		keys = append(keys, "wifi_password")
	}
	if out.llm && d.llmKey.file == FileName {
		keys = append(keys, "llm_key")
	}
	type change struct {
		name string
		data []byte
	}
	var changes []change
	if b := text.blank(keys...); len(keys) > 0 && string(b) != string(text.data) {
		changes = append(changes, change{FileName, b})
	}
	for _, s := range sources {
		// A network that was not taken stays where it can be mended. One that
		// another file goes before is of no use.
		if s.wifi && !out.wifi && d.wifiPassword.file == s.name {
			continue
		}
		changes = append(changes, change{s.name, []byte(emptied)})
	}
	if len(changes) == 0 {
		return
	}
	err := o.Writable(func() error {
		for _, ch := range changes {
			if err := replace(o.FS, filepath.Join(o.Setup, ch.name), ch.data); err != nil {
				return err
			}
			a.done = append(a.done, "secrets were removed from "+ch.name)
		}
		return nil
	})
	if err != nil {
		a.done = append(a.done, fmt.Sprintf("cannot remove secrets from the boot partition: %v", err))
		a.notes = append(a.notes, note.FromText(words.Format(
			"启动分区上的密码已经取走，但没能从那里删除（%v）；请在电脑上删掉，或检查这张卡",
			"the passwords on the boot partition were taken over but could not be removed there (%v); remove them in a computer, or check the card", err), false))
	}
}

// replace writes the file anew and then overwrites the blocks that the old one
// lay in, which would else keep its secrets in free space. An open file keeps
// its blocks until it is closed.
func replace(fsys disk.FS, path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	old, err := fsys.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer old.Close() // errors that count were seen by Sync
	if err := disk.WriteFileFS(fsys, path, data, 0o644); err != nil {
		return err
	}
	if _, err := old.Write(make([]byte, info.Size())); err != nil {
		return fmt.Errorf("overwrite the old %s: %w", path, err)
	}
	return old.Sync()
}

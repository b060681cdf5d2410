package card

import (
	"homeagent/firmware/words"
)

// value is what a file says for one key, unchecked.
type value struct {
	text string
	file string
	line int // 0 if the format has no lines worth naming
}

// where names the value's place for a person.
func (v value) where() words.Text {
	if v.line == 0 {
		return words.Text{ZH: v.file, EN: v.file}
	}
	return words.Format("%s 第 %d 行", "%s line %d", v.file, v.line)
}

// draft is what one file asks for, unchecked.
type draft struct {
	wifiName, wifiPassword, wifiCountry value
	// wifiTaken and llmTaken: the secret's line is empty because an earlier
	// boot took it over.
	wifiTaken, llmTaken          bool
	hostName, language, timeZone value
	llmURL, llmKey               value
	sshKeys                      []value
	// login: the file asks for a user with a password.
	login bool
	// ssh: the file asks for SSH to be on.
	ssh bool
	// secret: the file holds something that must not stay on the card.
	secret bool
}

// over is d with its gaps filled from what has less weight. A network's name
// and password stay together, so do address and key of a language model.
func (d draft) over(o draft) draft {
	if d.wifiName.text == "" && d.wifiPassword.text == "" {
		d.wifiName, d.wifiPassword, d.wifiTaken = o.wifiName, o.wifiPassword, o.wifiTaken
	}
	if d.llmURL.text == "" && d.llmKey.text == "" {
		d.llmURL, d.llmKey, d.llmTaken = o.llmURL, o.llmKey, o.llmTaken
	}
	for _, p := range []struct{ mine, theirs *value }{
		{&d.wifiCountry, &o.wifiCountry}, {&d.hostName, &o.hostName}, {&d.language, &o.language}, {&d.timeZone, &o.timeZone},
	} {
		if p.mine.text == "" {
			*p.mine = *p.theirs
		}
	}
	if len(d.sshKeys) == 0 {
		d.sshKeys = o.sshKeys
	}
	d.login, d.ssh = d.login || o.login, d.ssh || o.ssh
	return d
}

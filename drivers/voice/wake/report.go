package wake

import (
	"fmt"
	"strings"
)

// Problem is what is wrong with a take.
type Problem string

// The problems that a take can have; the empty Problem is a good take.
const (
	TooQuiet  Problem = "too_quiet"
	Clipped   Problem = "clipped"
	TooShort  Problem = "too_short"
	TooLong   Problem = "too_long"
	NoSpeech  Problem = "no_speech"
	Unlike    Problem = "unlike" // does not sound like the other takes
	TooNoisy  Problem = "too_noisy"
	MoreWords Problem = "more_words" // other speech beside the word
)

// hints tell what to do about a problem, Chinese first.
var hints = map[Problem][2]string{
	TooQuiet:  {"声音太小，请靠近麦克风或大声一点再说一遍", "too quiet: come closer to the microphone or speak up, and say it again"},
	Clipped:   {"声音太大，录音失真，请离麦克风远一点再说一遍", "too loud, the recording is distorted: step back a little and say it again"},
	TooShort:  {"这个词太短，容易误唤醒，请换一个至少两三个音节的词", "too short, it would be heard everywhere: choose a word of at least two or three syllables"},
	TooLong:   {"录到的话太长，请只说唤醒词（不超过两秒半）", "too long: say only the wake word, within two and a half seconds"},
	NoSpeech:  {"没有听到说话，请检查麦克风后再说一遍", "no speech was heard: check the microphone and say it again"},
	Unlike:    {"和另外几遍不像，请用同样的方式再说一遍", "unlike the other takes: say it again the way you said the others"},
	TooNoisy:  {"周围太吵，请在安静的地方再录一遍", "too much noise around: record it again in a quiet place"},
	MoreWords: {"除了唤醒词还有别的声音，请在安静中只说唤醒词", "there is other sound beside the word: say only the wake word, with silence around it"},
}

// Take is the judgement of one take.
type Take struct {
	// Start and End are the samples between which the word was found.
	Start, End int
	// Level is the word's loudest 30 ms and Noise the level of the quiet parts,
	// both in decibels below full scale.
	Level, Noise float64
	Problem      Problem
}

// Report is the judgement of an enrolment.
type Report struct {
	Takes []Take
	// Weak tells that the word was learned but that its own takes lie near the
	// threshold: it will be missed often, as a very short word is, or takes that differ.
	Weak bool
}

// Good counts the takes without a problem.
func (r Report) Good() int {
	n := 0
	for _, t := range r.Takes {
		if t.Problem == "" {
			n++
		}
	}
	return n
}

// Text says in Chinese ("zh" and anything that begins so) or English what each
// take lacks and what to do, one line a take that has a problem.
func (r Report) Text(lang string) string {
	chinese := strings.HasPrefix(lang, "zh")
	var lines []string
	for i, t := range r.Takes {
		switch {
		case t.Problem == "":
		case chinese:
			lines = append(lines, fmt.Sprintf("第 %d 遍：%s。", i+1, hints[t.Problem][0]))
		default:
			lines = append(lines, fmt.Sprintf("Take %d: %s.", i+1, hints[t.Problem][1]))
		}
	}
	switch {
	case r.Good() < MinTakes && chinese:
		lines = append(lines, fmt.Sprintf("能用的有 %d 遍，需要 %d 遍。", r.Good(), MinTakes))
	case r.Good() < MinTakes:
		lines = append(lines, fmt.Sprintf("%d good takes are there, %d are needed.", r.Good(), MinTakes))
	case r.Weak && chinese:
		lines = append(lines, "已经学会，但这个词不容易分辨，可能经常听不到；可以多录几遍或换一个更长的词。")
	case r.Weak:
		lines = append(lines, "Learnt, but this word is hard to tell apart and may often be missed: add more takes or choose a longer word.")
	case len(lines) == 0 && chinese:
		lines = append(lines, "唤醒词已经学会。")
	case len(lines) == 0:
		lines = append(lines, "The wake word has been learnt.")
	}
	return strings.Join(lines, "\n")
}

// TakesError refuses an enrolment because too few of its takes are good.
type TakesError struct{ Report Report }

func (e *TakesError) Error() string {
	return fmt.Sprintf("%d of %d takes can be used, %d are needed: %s", e.Report.Good(), len(e.Report.Takes), MinTakes,
		strings.ReplaceAll(e.Report.Text("en"), "\n", " "))
}

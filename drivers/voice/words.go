package voice

// phrase is a sentence in both languages.
type phrase struct{ zh, en string }

func (p phrase) in(lang string) string {
	if lang == "en" {
		return p.en
	}
	return p.zh
}

// What the box says or shows of itself.
var (
	sayFailed       = phrase{"我没能听懂，语音识别出错了。请稍后再试。", "I could not make that out: speech recognition failed. Please try again."}
	sayNotTaken     = phrase{"我没能记下这句话，请再说一遍。", "I could not take that down. Please say it again."}
	noteEnglishOnly = phrase{"我现在只听得懂英文指令。要说中文，请在 config.yaml 里填写 voice.transcription。", "I understand English commands only for now. To speak freely or in another language, set voice.transcription in config.yaml."}
	sayNoEngine     = phrase{"还没有安装语音识别。请运行 tools/setup，或在 config.yaml 里填写 voice.transcription。", "No speech recognition is installed. Run tools/setup, or set voice.transcription in config.yaml."}
	sayLate         = phrase{"还没有等到回答，有了就告诉您。", "There is no answer yet; I will say it when it comes."}

	noteMicLost      = phrase{"麦克风用不了：%s。会自动重试；请检查它是否插好。", "The microphone cannot be used: %s. It is tried again; check that it is plugged in."}
	noteMicBack      = phrase{"麦克风可以用了。", "The microphone works."}
	noteMicOff       = phrase{"配置里关闭了麦克风（voice.microphone: off）。", "The microphone is switched off in the configuration (voice.microphone: off)."}
	noteSpeakerLost  = phrase{"扬声器用不了：%s。请检查它是否插好。", "The speaker cannot be used: %s. Check that it is plugged in."}
	noteCannotSpeak  = phrase{"没能把回答说出来：%s。", "The answer could not be spoken: %s."}
	noteNoSynth      = phrase{"没有能说这种语言的语音合成。请运行 tools/setup（Debian 软件包 espeak-ng）。", "No speech synthesis for this language. Run tools/setup (Debian package espeak-ng)."}
	noteEndpoint     = phrase{"断句引擎出错，改用音量判断：%s。", "The endpoint engine failed; loudness decides instead: %s."}
	noteNoWake       = phrase{"没有唤醒词：%s。请登记一个（homectl wake enrol 名字），或用按键说话。", "There is no wake word: %s. Enrol one (homectl wake enrol NAME), or use push to talk."}
	noteSpeakerMuted = phrase{"扬声器已静音，回答没有播放。", "The speaker is muted; the answer was not spoken."}
	noteDropped      = phrase{"等待播放的内容太多，这条没有播放。", "Too much waits to be spoken; this was left out."}
	noteRecognition  = phrase{"语音识别出错：%s。", "Speech recognition failed: %s."}
	noteRest         = phrase{"其余内容请在页面上看。", "The rest is on the page."}
)

// sayer is an error that has words for people.
type sayer interface {
	In(lang string) string
}

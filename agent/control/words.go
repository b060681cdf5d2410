package control

import "strings"

// fillersBefore and fillersAfter are words around an intent that change nothing.
// "ok" and "好" stand among them although alone they confirm: a filler is taken
// off only while something is left. No negation may ever stand here.
var (
	fillersBefore = fields(`
		please, hey, hi, hello, ok, okay, oh, uh, um, well, now, just, alright, all right,
		could you, can you, would you, will you, could you please, can you please, would you please,
		i said, sorry, thanks, thank you
		请, 请你, 麻烦, 麻烦你, 拜托, 嘿, 喂, 哎, 诶, 哦, 噢, 啊, 嗯, 呃, 快, 快点, 赶紧, 赶快, 立刻, 马上, 现在,
		那, 那就, 好了, 好啦, 行了, 你, 你先, 先, 给我, 帮我, 我说, 还是, 再`)
	fillersAfter = fields(`
		please, now, right now, thanks, thank you, thank you very much, already, will you, would you, for me,
		at once, immediately, a bit, a little, a little bit, ok, okay
		吧, 啊, 呀, 啦, 了, 哦, 噢, 呢, 嘛, 嘞, 谢谢, 谢谢你, 多谢, 好吗, 好不好, 行吗, 可以吗, 好了`)
)

// utterances maps each whole utterance, normalised, to its intent.
var utterances = table(map[Intent]string{
	Stop: `
		stop, stop it, stop that, stop this, stop talking, stop speaking, stop reading, stop everything,
		be quiet, quiet, keep quiet, shut up, silence, hush, halt, enough, thats enough, that is enough, that will do
		停, 停下, 停下来, 停止, 停一下, 停住, 打住, 住口, 住嘴, 闭嘴, 安静, 安静点, 安静一点, 够了, 别吵, 别吵了,
		别说, 别说了, 别说话, 别说话了, 不要说了, 不用说了, 不要再说了, 别再说了, 别讲了, 不要讲了, 别念了, 不要念了,
		别读了, 别播了, 别放了, 别做了, 别动, 停止说话, 停止播放, 停止执行, 都停下, 全部停止`,
	Cancel: `
		cancel, cancel it, cancel that, cancel this, never mind, nevermind, forget it, forget about it,
		scratch that, abort, dont bother, drop it, leave it
		取消, 取消掉, 取消它, 取消这个, 算了, 算了吧, 不用了, 不必了, 不需要了, 作罢, 别管了, 不弄了, 不做了,
		当我没说, 没事了, 当我没问`,
	Mute: `
		mute, mute it, mute yourself, mute the sound, mute the volume, mute the speaker, sound off,
		turn off the sound, turn the sound off
		静音, 设为静音, 调成静音, 打开静音, 开启静音, 关掉声音, 关闭声音, 关声音, 把声音关掉, 把声音关了, 别出声, 不要出声`,
	Louder: `
		louder, speak louder, a bit louder, a little louder, make it louder, volume up, turn up the volume,
		turn the volume up, turn it up, turn up, speak up, increase the volume, raise the volume
		大声, 大声点, 大声一点, 大声些, 大声一些, 大点声, 大一点声, 说大声点, 说大声一点, 大点声说, 响一点, 响点,
		声音大点, 声音大一点, 声音再大点, 声音再大一点, 声音调大, 声音调大一点, 声音开大, 声音开大点, 声音开大一点,
		把声音调大, 把声音调大一点, 把声音开大, 把声音开大一点, 调大声音, 音量大点, 音量大一点, 音量调大, 音量调大一点,
		音量调高, 音量高一点, 调大音量, 调高音量, 把音量调大, 把音量调大一点, 把音量调高, 音量加大, 加大音量, 提高音量, 增大音量`,
	Softer: `
		softer, quieter, speak softer, speak quieter, speak more quietly, more quietly, a bit softer, a bit quieter,
		a little softer, a little quieter, make it softer, make it quieter, volume down, turn down the volume,
		turn the volume down, turn it down, turn down, lower the volume, decrease the volume, reduce the volume, not so loud
		小声, 小声点, 小声一点, 小声些, 小声一些, 小点声, 小一点声, 说小声点, 说小声一点, 轻一点, 轻点, 轻声点, 轻声一点,
		声音小点, 声音小一点, 声音再小点, 声音再小一点, 声音调小, 声音调小一点, 声音关小, 声音关小点, 声音关小一点,
		把声音调小, 把声音调小一点, 把声音关小, 把声音关小一点, 调小声音, 音量小点, 音量小一点, 音量调小, 音量调小一点,
		音量调低, 音量低一点, 调小音量, 调低音量, 把音量调小, 把音量调小一点, 把音量调低, 音量减小, 减小音量, 降低音量, 太吵了, 太大声了`,
	RingOff: `
		stop ringing, stop the ringing, stop beeping, stop the alarm, silence the alarm, dismiss, dismiss the alarm, ring off
		别响, 别响了, 不要响了, 不用响了, 别再响了, 停止响铃, 停止铃声, 关掉铃声, 关闭铃声, 把铃声关掉, 把铃声关了, 别叫了, 别闹铃了`,
	Confirm: `
		yes, yeah, yep, yes please, yes do it, sure, ok, okay, confirm, confirmed, i confirm, correct, right, thats right,
		that is right, do it, go ahead, affirmative, of course, absolutely, please do, sounds good, fine, all right, alright
		好, 好的, 好啊, 好吧, 是, 是的, 对, 对的, 没错, 确认, 确定, 我确认, 我确定, 可以, 可以的, 行, 嗯, 当然, 同意, 要, 要的,
		没问题, 就这样, 去做吧, 做吧`,
	Deny: `
		no, nope, no thanks, no thank you, dont, do not, dont do it, do not do it, deny, denied, negative, not now, no way,
		please dont, refuse, i refuse
		不, 不要, 不行, 不可以, 不是, 不是的, 不对, 别, 不好, 不用, 不了, 否, 拒绝, 不同意, 不允许, 不确认, 先不要`,
})

// fields splits a list at commas and line ends.
func fields(list string) []string {
	var out []string
	for _, f := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' }) {
		if f = normalise(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

func table(lists map[Intent]string) map[string]Intent {
	out := map[string]Intent{}
	for intent, list := range lists {
		for _, u := range fields(list) {
			out[u] = intent
		}
	}
	return out
}

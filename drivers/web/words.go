package web

import "homeagent/drivers/web/problem"

func two(zh, en string) problem.Words { return problem.Words{ZH: zh, EN: en} }

// What this plugin says itself; refused inputs come with words of the queue.
var (
	wInternal   = two("智能体内部出错了。请再试一次；如果还不行，请看日志。", "Something went wrong in the agent. Try again; if it stays, look at the log.")
	wNotFound   = two("没有这个接口，或者提供它的插件没有运行。请看状态页。", "There is no such interface, or the plugin behind it does not run. Look at the status.")
	wMethod     = two("这个接口不支持这种请求方法。", "This interface does not take that method.")
	wNotJSON    = two("请求内容必须是 application/json。", "The request must be application/json.")
	wBadBody    = two("请求内容不是有效的 JSON。请发送 {\"text\": \"…\"}。", "The request is not valid JSON. Send {\"text\": \"…\"}.")
	wTooBig     = two("发送的内容太大。请分成小一些的部分再发。", "What was sent is too big. Send it in smaller pieces.")
	wNotUTF8    = two("文字不是 UTF-8 编码，没有收下。请改用 UTF-8 再发。", "The text is not UTF-8 and was not taken. Encode it as UTF-8 and send it again.")
	wBadSession = two("会话名只能用小写字母、数字、横线和下划线，最多 32 个字符。", "A session name has small letters, digits, dashes and underscores, 32 characters at most.")
	wNoTurn     = two("这个回答已经不在了，请看对话记录。", "That answer is no longer kept here; look into the history.")
	wLate       = two("还没有回答。你的话没有丢，回答会出现在对话记录里。", "There is no answer yet. What you said is not lost; the answer will be in the history.")
	wBadLimit   = two("limit 要在 1 到 200 之间。", "limit is between 1 and 200.")
)

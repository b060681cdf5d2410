package door

import "homeagent/drivers/web/problem"

// kind is a problem of the door: its status, its code and its words. A title
// says what happened and what to do next.
type kind struct {
	status int
	code   string
	words  problem.Words
}

func say(status int, code, zh, en string) kind {
	return kind{status, code, problem.Words{ZH: zh, EN: en}}
}

var (
	kHost = say(421, "foreign_host", "这个地址不是本机的名字。请用 http://homeagent.local 或本机的 IP 地址打开；要使用别的名字，请把它加到配置的 daemon.hosts 里。",
		"This address is not one of this machine's names. Open http://homeagent.local or the machine's IP address; to use another name, add it to daemon.hosts in the configuration.")
	kOrigin = say(403, "foreign_origin", "请求来自别的网站，已拒绝。请直接打开 HomeAgent 的页面再试。",
		"The request came from another site and was refused. Open the HomeAgent page itself and try again.")
	kCSRF = say(403, "no_csrf_header", "修改类请求必须带有请求头 X-Homeagent: 1，已拒绝。",
		"A request that changes something needs the header X-Homeagent: 1; it was refused.")
	kNotClaimed = say(403, "not_claimed", "这台 HomeAgent 还没有设置密码。请打开页面，输入启动时显示的设置码。",
		"This HomeAgent has no password yet. Open the page and enter the setup code that was printed at start.")
	kNotLoggedIn = say(401, "not_logged_in", "请先登录。", "Please log in first.")
	kBadToken    = say(401, "bad_token", "令牌无效。请用 homectl token new 名称 新建一个。", "The token is not valid. Make a new one with: homectl token new NAME")
	kScope       = say(403, "scope", "这个令牌的权限不够。请用权限更大的令牌。", "This token may not do that. Use one with a wider scope.")
	kUser        = say(403, "not_your_door", "这个系统用户无权使用本机接口。请用运行 HomeAgent 的用户或 root 运行。",
		"This system user may not use the local interface. Run it as the user that runs HomeAgent, or as root.")
	kClaimed   = say(409, "already_claimed", "这台 HomeAgent 已经设置过密码了。请登录。", "This HomeAgent has been claimed already. Please log in.")
	kWrongCode = say(403, "wrong_code", "设置码不对。它在启动时显示，也写在数据文件夹的 setup-code.txt 里。",
		"The setup code is wrong. It is printed at start and stands in setup-code.txt in the data folder.")
	kPassword = say(422, "weak_password", "密码至少要有 8 个字符，最多 1024 个字节。", "The password needs at least 8 characters and at most 1024 bytes.")
	kWrong    = say(401, "wrong_password", "密码不对，请再试一次。忘记密码时，请在这台机器上运行 homectl passwd。",
		"The password is wrong, try again. If you forgot it, run homectl passwd on the machine itself.")
	kSlow     = say(429, "too_many_attempts", "尝试次数太多，请稍后再试。", "Too many attempts. Please wait a little.")
	kBusy     = say(503, "busy", "现在请求太多，请稍后再试。", "Too much at once. Please try again in a moment.")
	kNotFound = say(404, "not_found", "没有这个接口。", "There is no such interface.")
	kNoPage   = say(404, "no_page", "没有这个页面。请从首页进入。", "There is no such page. Start from the front page.")
	kMethod   = say(405, "method", "这个接口不支持这种请求方法。", "This interface does not take that method.")
	kBody     = say(400, "bad_body", "请求内容不是有效的 JSON，或者有不认识的字段。", "The request is not valid JSON, or names an unknown field.")
	kType     = say(415, "not_json", "请求内容必须是 application/json。", "The request must be application/json.")
	kTooBig   = say(413, "too_big", "发送的内容太大。请分成小一些的部分再发。", "What was sent is too big. Send it in smaller pieces.")
	kSlowBody = say(408, "slow_body", "发送得太慢，已放弃。请检查网络后再试。", "It was sent too slowly and given up. Check the network and try again.")
	kName     = say(422, "bad_name", "名称只能用字母、数字、点、横线和下划线，最多 40 个字符。", "A name has letters, digits, dots, dashes and underscores, 40 characters at most.")
	kScopeBad = say(422, "bad_scope", "权限只能是 all、chat 或 read。", "A scope is all, chat or read.")
	kLang     = say(422, "bad_lang", "语言只能是 zh 或 en。", "A language is zh or en.")
	kTaken    = say(409, "name_taken", "这个名称已经有了。请换一个，或先删除旧的。", "The name is taken. Choose another, or delete the old one first.")
	kFull     = say(409, "no_room", "数量已到上限。请先删除不用的。", "There is no room for more. Delete what is not used first.")
	kNoToken  = say(404, "no_token", "没有这个名称的令牌。", "There is no token of that name.")
	kNoAgent  = say(503, "agent_down", "智能体暂时不在，正在自动重启。请稍等几秒再试。", "The agent is away and is being started again. Please try again in a few seconds.")
	kLost     = say(502, "agent_lost", "智能体中途断开了。请过一会儿看对话记录：你的话在里面就会有回答，不在里面请再说一遍。",
		"The agent went away in between. Look into the history in a moment: if your words stand there, the answer will follow; if not, say them again.")
	kNoControl = say(503, "supervisor_down", "现在联系不上监管进程。请稍后再试。", "The supervisor cannot be reached now. Please try again in a moment.")
	kControl   = say(502, "supervisor_failed", "监管进程没有完成这个请求。请看日志。", "The supervisor could not do that. The log says why.")
	kInternal  = say(500, "internal", "门进程内部出错了。请看日志。", "Something went wrong in the door. The log says what.")
	kDisk      = say(507, "disk", "无法写入数据文件夹。请检查磁盘是否已满或只读。", "The data folder cannot be written. Check whether the disk is full or read-only.")
)

// Fault is an error of Control with its own words for the person who asked.
type Fault struct {
	Status int // HTTP status, 400 to 599
	Code   string
	Words  problem.Words
	Err    error // for the log
}

func (f *Fault) Error() string {
	if f.Err != nil {
		return f.Words.EN + ": " + f.Err.Error()
	}
	return f.Words.EN
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

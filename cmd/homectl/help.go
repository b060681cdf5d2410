package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"homeagent/firmware/words"
)

// helpTexts are what stands behind the ${name} of the commands' tags.
func helpTexts() map[string]words.Text {
	return map[string]words.Text{
		"description":   {ZH: "和 HomeAgent 说话。", EN: "Speak to HomeAgent."},
		"data":          {ZH: "正在运行的 homed 的数据文件夹。也可写作 -data 文件夹。", EN: "Data folder of the running homed. Also as -data FOLDER."},
		"url":           {ZH: "另一台机器的地址，例如 http://homeagent.local；需要 --token。", EN: "Address of another box, such as http://homeagent.local; needs --token."},
		"token":         {ZH: "用 'homectl token new' 生成的令牌。", EN: "Token made with 'homectl token new'."},
		"lang":          {ZH: "消息的语言：zh、en，或 auto（按环境变量）。", EN: "Language of messages: zh, en, or by the environment (auto)."},
		"show_version":  {ZH: "显示版本。", EN: "Print the version."},
		"say":           {ZH: "说一句话，边收边显示回答。", EN: "Say something and print the answer as it comes."},
		"say_text":      {ZH: "要说的话；- 从标准输入读。", EN: "What to say; - reads standard input."},
		"no_memory":     {ZH: "不在记忆里留下痕迹。", EN: "Leave no trace of this in memory."},
		"hear":          {ZH: "把一段录音当作麦克风听到的来播放。", EN: "Play a recording to the microphone path as if it had been heard."},
		"hear_file":     {ZH: "WAV 文件，任何采样率、位宽和声道数都行；- 从标准输入读。", EN: "A WAV file of any rate, width and number of channels; - reads standard input."},
		"hear_out":      {ZH: "把说出的回答写到这里；有几段回答时，第二段写到“名字-2.wav”，依此类推。", EN: "Write the spoken answer here; with several answers, the second to ANSWER-2.wav and so on."},
		"no_wake":       {ZH: "立刻开始听，像按过按钮一样，不等唤醒词。", EN: "Listen at once, as after a press of the button, without waiting for the wake word."},
		"hear_json":     {ZH: "把回答的每一行按 JSON 显示，不带声音。", EN: "Print every line of the answer as JSON, without the sound."},
		"listen":        {ZH: "不用唤醒词，直接开始听。", EN: "Start listening without the wake word."},
		"wake":          {ZH: "唤醒词：登记、列出、删除。", EN: "Wake words: enrol, list, delete."},
		"wake_enrol":    {ZH: "用录音或麦克风教它一个唤醒词。", EN: "Teach a wake word from recordings, or from the microphone."},
		"wake_name":     {ZH: "这个词，以后就这样叫它。", EN: "The word, as it is to be called."},
		"wake_files":    {ZH: "三到五段录音（WAV）；不给就用麦克风录。", EN: "Three to five takes (WAV); without any the microphone records them."},
		"wake_list":     {ZH: "列出唤醒词。", EN: "List the wake words."},
		"wake_delete":   {ZH: "忘掉一个唤醒词。", EN: "Forget a wake word."},
		"wake_word":     {ZH: "这个词。", EN: "The word."},
		"events":        {ZH: "显示正在发生的事，每行一个 JSON 对象。", EN: "Print what happens, one JSON object a line."},
		"status":        {ZH: "显示家里的状况。", EN: "Show how the house is."},
		"status_json":   {ZH: "全部按 JSON 显示。", EN: "Print everything as JSON."},
		"logs":          {ZH: "显示最近的日志。", EN: "Print the last log lines."},
		"logs_lines":    {ZH: "显示多少行。", EN: "How many lines."},
		"restart":       {ZH: "重启一个进程：agent 或 door。", EN: "Restart a process: agent or door."},
		"restart_name":  {ZH: "agent 或 door。", EN: "agent or door."},
		"llm":           {ZH: "语言模型：设置一个。", EN: "Language models: set one."},
		"llm_clear":     {ZH: "不再使用任何语言模型。", EN: "Use no language model any more."},
		"llm_set":       {ZH: "使用一个语言模型；会询问它的密钥。", EN: "Use a language model; its key is asked for."},
		"llm_kind":      {ZH: "deepseek、openai（以及和它说同样接口的）或 ollama。", EN: "deepseek, openai (and what speaks like it), or ollama."},
		"llm_base":      {ZH: "服务器的地址，写到 /v1 为止。", EN: "Address of the server, up to /v1."},
		"llm_model":     {ZH: "模型的名称。", EN: "Name of the model."},
		"no_key":        {ZH: "服务器不要密钥。", EN: "The server wants no key."},
		"secret":        {ZH: "密文：设置一个，列出名称。", EN: "Secrets: set one, list their names."},
		"secret_set":    {ZH: "从标准输入设置一个密文。", EN: "Set a secret from standard input."},
		"secret_name":   {ZH: "密文的名称。", EN: "The secret's name."},
		"secret_remove": {ZH: "改为删除它。", EN: "Remove it instead."},
		"secret_list":   {ZH: "列出密文的名称。", EN: "List the names of secrets."},
		"config":        {ZH: "配置：显示或替换。", EN: "Configuration: show or replace it."},
		"config_show":   {ZH: "显示 config.yaml。", EN: "Print config.yaml."},
		"config_set":    {ZH: "替换 config.yaml；智能体会重新启动。", EN: "Replace config.yaml; the agent starts anew."},
		"config_file":   {ZH: "新的 config.yaml；- 从标准输入读。", EN: "The new config.yaml; - reads standard input."},
		"passwd":        {ZH: "设置页面的密码；不需要旧密码。", EN: "Set the page's password; works without the old one."},
		"tokens":        {ZH: "给其他程序用的令牌：新建、列出、删除。", EN: "Tokens for other programs: new, list, delete."},
		"token_new":     {ZH: "新建一个令牌；只显示一次。", EN: "Make a token; it is shown once."},
		"token_for":     {ZH: "它的用途。", EN: "What it is for."},
		"token_scope":   {ZH: "all、chat 或 read。", EN: "all, chat or read."},
		"token_list":    {ZH: "列出令牌。", EN: "List tokens."},
		"token_delete":  {ZH: "删除一个令牌。", EN: "Delete a token."},
		"token_name":    {ZH: "令牌的名称，list 里显示的那个。", EN: "The token's name, as list shows it."},
		"memory":        {ZH: "记忆：查找、忘掉、导出、整理。", EN: "Memory: search, forget, export, tidy."},
		"memory_json":   {ZH: "按 JSON 显示回答。", EN: "Print the answer as JSON."},
		"memory_search": {ZH: "在记住的一切里查找：事实、说过的话、文档、知识。", EN: "Search all that is remembered: facts, what was said, documents, taught texts."},
		"memory_query":  {ZH: "问题或关键词。", EN: "Question or key words."},
		"memory_limit":  {ZH: "最多显示多少条。", EN: "How many lines at most."},
		"memory_facts":  {ZH: "列出事实和它们的编号；什么都不给就列最新的。", EN: "List facts with their numbers; without any words the newest."},

		"memory_query_or_none": {ZH: "问题或关键词，可以不给。", EN: "Question or key words, or nothing."},

		"memory_subject":  {ZH: "只看关于它的，按名字或别名。", EN: "Only those about this one, by name or alias."},
		"memory_relation": {ZH: "只限这种关系。", EN: "Only those of this relation."},
		"memory_object":   {ZH: "只限指向它的。", EN: "Only those that lead to this one."},
		"memory_past":     {ZH: "连过去的也列出来，例如以前住在哪里。", EN: "With what held once, such as where somebody lived before."},
		"memory_forget":   {ZH: "忘掉事实；先显示会忘掉什么，再问一次。", EN: "Forget facts; it shows first what would go, and asks."},

		"memory_forget_query": {ZH: "要忘掉的事里的词。加 --hard 时，原话里有这几个词的全都删掉。", EN: "Words of what is to go. With --hard everything said that holds exactly these words goes as well."},

		"memory_hard":    {ZH: "彻底删除，找不回来；有词时连原话也删。", EN: "Delete for good, and with words what was said too; this cannot be undone."},
		"memory_yes":     {ZH: "不问，直接忘掉（给脚本用）。", EN: "Forget without asking, for scripts."},
		"memory_restore": {ZH: "找回忘掉的事实（没有加 --hard 的）。", EN: "Take back facts that were forgotten without --hard."},

		"memory_restore_numbers": {ZH: "事实的编号，forget 和 facts 里显示的那个。", EN: "Numbers of the facts, as forget and facts show them."},

		"memory_export": {ZH: "把记住的一切写成一个可读的文件；里面都是私事。", EN: "Write all that is remembered into one readable file; all of it is private."},

		"memory_export_file": {ZH: "写到哪里；- 写到标准输出；不给就写到 homeagent-memory-日期.jsonl。", EN: "Where to; - is standard output; without it homeagent-memory-DATE.jsonl."},

		"memory_force":  {ZH: "文件已存在也覆盖。", EN: "Replace a file that exists."},
		"memory_import": {ZH: "把导出的文件收进来；已有的不会重复。", EN: "Take an export in, beside what is there; nothing is doubled."},

		"memory_import_file": {ZH: "export 写出的文件；- 从标准输入读。", EN: "A file that export has written; - reads standard input."},

		"memory_stats":   {ZH: "显示记住了多少。", EN: "Show how much is remembered."},
		"memory_pairs":   {ZH: "列出可能是同一个的名字，以及判断的结果。", EN: "List names that may mean one, and what was found out."},
		"memory_state":   {ZH: "只列这一类：all、open、undecided、different 或 merged。", EN: "Only those: all, open, undecided, different or merged."},
		"memory_answer":  {ZH: "回答一对名字是不是同一个。", EN: "Answer whether a pair of names is one."},
		"memory_pair":    {ZH: "这一对的编号，pairs 里显示的那个。", EN: "The pair's number, as pairs shows it."},
		"memory_outcome": {ZH: "same（合并，可撤销）、different（分开）或 undecided（以后再说）。", EN: "same (merges them, can be undone), different (keeps them apart) or undecided (until there is news)."},
		"memory_reason":  {ZH: "为什么，一句话。", EN: "Why, in a sentence."},
		"memory_merges":  {ZH: "列出可以撤销的合并。", EN: "List merges that can be undone."},
		"memory_undo":    {ZH: "撤销一次合并。", EN: "Undo a merge."},
		"memory_merge":   {ZH: "合并的编号，merges 里显示的那个。", EN: "The merge's number, as merges shows it."},
		"memory_tidy":    {ZH: "现在就整理一次（平时每半小时一次）。", EN: "Tidy now; it happens every half hour by itself."},
		"memory_context": {ZH: "显示正在进行的对话，和大模型看到的一样。", EN: "Show the live conversation, as a language model sees it."},
		"memory_tools":   {ZH: "列出记忆的工具。", EN: "List the tools of memory."},

		"name_word":     {ZH: "名字", EN: "NAME"},
		"relation_word": {ZH: "关系", EN: "RELATION"},
		"reason_word":   {ZH: "原因", EN: "REASON"},

		"folder_word": {ZH: "文件夹", EN: "FOLDER"},
		"url_word":    {ZH: "地址", EN: "URL"},
		"token_word":  {ZH: "令牌", EN: "TOKEN"},
		"answer_word": {ZH: "回答.wav", EN: "ANSWER.wav"},
	}
}

// helpVars are the texts in one language.
func helpVars(lang string) kong.Vars {
	vars := kong.Vars{"version": version}
	for name, text := range helpTexts() {
		vars[name] = text.In(lang)
	}
	return vars
}

// headings puts the words of kong's own help in Chinese.
var headings = strings.NewReplacer(
	"Usage: ", "用法：", "Arguments:\n", "参数：\n", "Flags:\n", "选项：\n", "Commands:\n", "命令：\n",
	"Show context-sensitive help.", "显示帮助。",
	" for more information on a command.", " 显示一个命令的详细说明。", `Run "`, `用 "`,
)

// printHelp prints kong's help with its headings in the language.
func printHelp(lang string) kong.HelpPrinter {
	return func(o kong.HelpOptions, ctx *kong.Context) error {
		if lang != words.Chinese {
			return kong.DefaultHelpPrinter(o, ctx)
		}
		out, page := ctx.Stdout, &bytes.Buffer{}
		ctx.Stdout = page
		err := kong.DefaultHelpPrinter(o, ctx)
		ctx.Stdout = out
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, headings.Replace(page.String()))
		return err
	}
}

// complaints are what kong says of arguments, and the same in Chinese.
var complaints = []struct {
	kong *regexp.Regexp
	zh   string
}{
	{regexp.MustCompile(`^unknown flag (\S+?), did you mean (?:one of )?(.*)\?$`), "没有选项 $1，是不是想写 $2？"},
	{regexp.MustCompile(`^unknown flag (\S+)$`), "没有选项 $1"},
	{regexp.MustCompile(`^unexpected argument (.+?), did you mean (?:one of )?(.*)\?$`), "看不懂参数 $1，是不是想写 $2？"},
	{regexp.MustCompile(`^unexpected argument (.+)$`), "看不懂参数 $1"},
	{regexp.MustCompile(`^expected one of (.*)$`), "还缺一个命令，可以是 $1"},
	{regexp.MustCompile(`^expected (".*")$`), "还缺参数 $1"},
	{regexp.MustCompile(`^(.+) must be one of (.*) but got (".*")$`), "$1 不能是 $3，可以是 $2"},
	{regexp.MustCompile(`^(\S+): missing value, expecting .*$`), "$1 后面缺一个值"},
	{regexp.MustCompile(`^(\S+): expected .* value but got "EOL".*$`), "$1 后面缺一个值"},
	{regexp.MustCompile(`^(.+): expected a valid .* int but got (".*")$`), "$1 应当是整数，不能是 $2"},
}

// wrongArguments says what is wrong with the arguments and where to look.
func wrongArguments(err error) *words.Error {
	why := words.Text{ZH: err.Error(), EN: err.Error()}
	for _, c := range complaints {
		if c.kong.MatchString(why.EN) {
			why.ZH = c.kong.ReplaceAllString(why.EN, c.zh)
			break
		}
	}
	e := words.Errorf("参数不对：%v；`homectl --help` 列出所有命令和选项", "wrong arguments: %v; `homectl --help` lists every command and flag", why)
	e.Err = err
	return e
}

// Every word of the page, in Chinese and English, and what tools do in plain words.

const words = {
  zh: {
    otherLang: 'EN', otherLangLabel: 'Switch to English',
    claimTitle: '欢迎，先设一个密码', claimText: 'HomeAgent 启动时显示了一个 8 位设置码，也写在数据文件夹的 setup-code.txt 里。输入它，说明这台机器是你的。',
    code: '设置码', newPassword: '新密码', passwordHint: '至少 8 个字符。以后在家里任何设备上打开这个页面都用它登录。', repeat: '再输一次', claimGo: '开始使用',
    notSame: '两次输入的密码不一样。', tooShort: '密码至少要有 8 个字符。', needCode: '请输入设置码。', needPassword: '请输入密码。',
    loginTitle: '登录', password: '密码', loginGo: '登录', signOut: '退出登录', status: '状态', close: '关闭',
    conversation: '对话', message: '消息', messageHint: '说点什么…', send: '发送', listen: '按一下说话',
    hello: '你好！', helloText: '打字，或者按左边的话筒说话。可以先试试：',
    examples: ['现在几点？', '打开客厅灯', '十分钟后提醒我关火', '你能做什么？'],
    online: '在线', away: '稍等', offline: '连接断开',
    agentDown: '智能体暂时不在，正在自动重启。页面会自己恢复。', lineDown: '和 HomeAgent 的连接断了，正在重连…',
    downTitle: '打不开', downText: '这台 HomeAgent 没有回应。请检查它是否通电、和这台设备是否在同一个网络里。', retry: '再试一次',
    heard: '听到', from_console: '命令行',
    listening: '正在听…', recognising: '正在听懂…', thinking: '正在想…', speaking: '正在说…', muted: '麦克风已关', ignored: '听到了，但不是给我的命令：',
    pluginFailed: (p) => `插件 ${p} 没有运行，状态里写着原因。`,
    cut: '连接在回答中途断了，正在找回…', gone: '回答暂时没有取到。你的话没有丢，稍后会出现在这里。',
    saidSo: 'HomeAgent 说：', loading: '正在读取…', wait: (s) => `请等 ${s} 秒再试。`,
    failed: (t) => `没有成功${t ? `：${t}` : ''}`, denied: '没有允许', not_run: '没有执行', unknown: '不确定是否已执行（中途断电或重启）',
    none: '无', noMicrophone: '没有麦克风。请给 HomeAgent 插上一个，然后再按一次。',
    attention: '需要处理', allWell: '一切正常。', notPlugged: '没有接好', offlineProvider: '只有内置的家居指令（没有语言模型）',
    processDown: (p, s) => `${p}：${s}。会自动重启；如果一直这样，请看日志。`, pluginDown: (p, why) => `插件 ${p} 没有运行${why ? `：${why}` : ''}。改好后请重启 HomeAgent。`,
  },
  en: {
    otherLang: '中文', otherLangLabel: '切换到中文',
    claimTitle: 'Welcome. Set a password first', claimText: 'HomeAgent printed a setup code of 8 characters when it started; it is also in setup-code.txt in the data folder. Enter it to show that this machine is yours.',
    code: 'Setup code', newPassword: 'New password', passwordHint: 'At least 8 characters. Every device at home signs in with it.', repeat: 'Once more', claimGo: 'Start',
    notSame: 'The two passwords differ.', tooShort: 'The password needs at least 8 characters.', needCode: 'Enter the setup code.', needPassword: 'Enter the password.',
    loginTitle: 'Sign in', password: 'Password', loginGo: 'Sign in', signOut: 'Sign out', status: 'Status', close: 'Close',
    conversation: 'Conversation', message: 'Message', messageHint: 'Say something…', send: 'Send', listen: 'Press and talk',
    hello: 'Hello!', helloText: 'Type, or press the microphone and talk. For a start:',
    examples: ['What time is it?', 'Turn on the living room lamp', 'Remind me in ten minutes to check the oven', 'What can you do?'],
    online: 'online', away: 'one moment', offline: 'no connection',
    agentDown: 'The agent is away and is being started again. This page comes back by itself.', lineDown: 'The connection to HomeAgent is lost. Trying again…',
    downTitle: 'Nobody answers', downText: 'This HomeAgent does not respond. Check that it has power and is on the same network as this device.', retry: 'Try again',
    heard: 'heard', from_console: 'command line',
    listening: 'Listening…', recognising: 'Making out the words…', thinking: 'Thinking…', speaking: 'Speaking…', muted: 'The microphone is off', ignored: 'Heard, but no command for me: ',
    pluginFailed: (p) => `The plugin ${p} does not run; the status says why.`,
    cut: 'The connection broke within the answer. Looking for the rest…', gone: 'The answer could not be fetched now. What you said is not lost; the answer will appear here.',
    saidSo: 'HomeAgent says: ', loading: 'Reading…', wait: (s) => `Wait ${s} seconds and try again.`,
    failed: (t) => `did not work${t ? `: ${t}` : ''}`, denied: 'not allowed', not_run: 'not run', unknown: 'may have happened (power cut or restart)',
    none: 'None', noMicrophone: 'There is no microphone. Plug one in at HomeAgent, then press again.',
    attention: 'Needs attention', allWell: 'All is well.', notPlugged: 'Not connected', offlineProvider: 'Built-in home commands only (no language model)',
    processDown: (p, s) => `${p}: ${s}. It is started again by itself; if it stays so, look at the log.`, pluginDown: (p, why) => `The plugin ${p} does not run${why ? `: ${why}` : ''}. Mend it and restart HomeAgent.`,
  },
};

// labels of the status panel; a key without one is shown as it is.
const labels = {
  zh: {
    door: '网页与登录', agent: '智能体', engines: '语音引擎', version: '版本', uptime_s: '已运行', processes: '进程', restarts: '重启次数',
    provider: '语言模型', answers: '回答来自', queue: '排队的消息', turn: '正在处理',
    voice: '语音', state: '状态', microphone: '麦克风', speaker: '扬声器', wake_words: '唤醒词', understands: '听得懂', volume: '音量', muted: '已静音',
    machine: '这台机器', isolation: '隔离', tracker: '操作记录', undo: '撤销', watchdog: '看门狗', wifi: '无线网络', data_dir: '数据文件夹', plugins: '插件',
  },
  en: {
    door: 'Page and sign-in', engines: 'Speech engines', uptime_s: 'Running for', provider: 'Language model', answers: 'Answers come from',
    queue: 'Waiting messages', turn: 'Working on', machine: 'This machine', tracker: 'Record of changes', wifi: 'Wi-Fi', data_dir: 'Data folder',
  },
};

// states of processes, plugins and the voice.
const states = {
  zh: {
    running: '运行中', starting: '正在启动', waiting: '等待重启', stopped: '已停止', failed: '失败', absent: '这台机器上没有', not_here: '这台机器上没有',
    idle: '等待唤醒', listening: '正在听', recognising: '正在听懂', thinking: '正在想', speaking: '正在说', muted: '麦克风已关', deaf: '没有麦克风，听不到',
  },
  en: { absent: 'Not on this board', not_here: 'Not on this board', idle: 'Waiting for the wake word', muted: 'Microphone off', deaf: 'Cannot hear: no microphone' },
};

export let lang = pick();

function pick() {
  const asked = new URLSearchParams(location.search).get('lang') || stored();
  for (const l of [asked, ...navigator.languages]) {
    if (/^zh/i.test(l || '')) return 'zh';
    if (/^en/i.test(l || '')) return 'en';
  }
  return 'zh';
}

function stored() {
  try { return localStorage.getItem('lang'); } catch { return null; }
}

export const t = (key) => words[lang][key];
const plain = (s) => { const w = String(s).replaceAll('_', ' '); return w.charAt(0).toUpperCase() + w.slice(1); };

export const label = (key) => labels[lang][key] || plain(key);

export const stateWord = (s) => states[lang][s] || plain(s);

// use switches the language and writes every marked text anew.
export function use(l) {
  lang = l;
  try { localStorage.setItem('lang', l); } catch { /* private mode: only for this visit */ }
  apply();
}

export function apply() {
  document.documentElement.lang = lang === 'zh' ? 'zh-CN' : 'en';
  for (const e of document.querySelectorAll('[data-t]')) e.textContent = t(e.dataset.t);
  for (const e of document.querySelectorAll('[data-t-label]')) e.setAttribute('aria-label', t(e.dataset.tLabel));
  for (const e of document.querySelectorAll('[data-t-title]')) e.title = t(e.dataset.tTitle);
  for (const e of document.querySelectorAll('[data-t-placeholder]')) e.placeholder = t(e.dataset.tPlaceholder);
}

let home = new Map(); // id of a device or room -> its names by language

// know takes the household's names, so that a lamp is called what people call it.
export function know(h) {
  home = new Map([...(h.rooms || []), ...(h.devices || [])].map((x) => [x.name, x.aliases || {}]));
}

const name = (s) => home.get(s)?.[lang]?.[0] || String(s ?? '').replaceAll('_', ' ');

export function span(seconds) {
  const s = Math.round(Number(seconds) || 0);
  const parts = [[Math.floor(s / 3600), '小时', ' h'], [Math.floor(s / 60) % 60, '分钟', ' min'], [s % 60, '秒', ' s']];
  const out = parts.filter(([n]) => n > 0).map(([n, zh, en]) => n + (lang === 'zh' ? zh : en));
  return out.join(lang === 'zh' ? '' : ' ') || (lang === 'zh' ? '0秒' : '0 s');
}

// One row a tool: what it did, from its arguments.
const deeds = {
  virtual_set: (a) => [`${a.state === 'on' ? '打开' : '关闭'}「${name(a.name)}」`, `${name(a.name)} ${a.state === 'on' ? 'on' : 'off'}`],
  virtual_list: () => ['查看虚拟设备', 'looked at the virtual devices'],
  timer_set: (a) => [`定时 ${span(a.seconds)}${a.label ? `：${a.label}` : ''}`, `timer for ${span(a.seconds)}${a.label ? `: ${a.label}` : ''}`],
  timer_list: () => ['查看定时器', 'looked at the timers'],
  timer_cancel: (a) => [a.id ? '取消定时器' : '取消所有定时器', a.id ? 'cancelled a timer' : 'cancelled all timers'],
  volume_set: (a) => [`音量调到 ${a.percent}%`, `volume set to ${a.percent}%`],
  volume_change: (a) => [a.delta > 0 ? '音量调高' : '音量调低', a.delta > 0 ? 'volume up' : 'volume down'],
  memory_recall: (a) => [`回忆：${a.query ?? ''}`, `recalled: ${a.query ?? ''}`],
  memory_commit: (a) => [`记住 ${facts(a)}`, `remembered ${facts(a)}`],
  memory_purge: (a) => [`忘掉：${a.criteria?.query ?? ''}`, `forgot: ${a.criteria?.query ?? ''}`],
  output_list: () => ['查看输出通道', 'looked at the ways out'],
};

function facts(a) {
  return (a.triples || []).map((f) => [f.subject, f.relation, f.object].join(' ')).join('; ');
}

// deed says in words what a call did and how it ended.
export function deed(call, status, text) {
  let args = {};
  try { args = typeof call.args === 'string' ? JSON.parse(call.args) : call.args || {}; } catch { /* shown without */ }
  const pair = deeds[call.name]?.(args) || [`用了工具 ${name(call.name)}`, `used ${name(call.name)}`];
  const said = pair[lang === 'zh' ? 0 : 1];
  if (!status || status === 'done') return said;
  const how = status === 'failed' ? t('failed')(text) : t(status) || status;
  return lang === 'zh' ? `${said}（${how}）` : `${said} (${how})`;
}

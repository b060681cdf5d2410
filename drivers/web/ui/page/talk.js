// The conversation: what was said and heard, what the agent answered and did.
import { $, el } from './dom.js';
import { call, stream, pause, Problem } from './api.js';
import { t, deed, know } from './words.js';

const kept = 300; // lines in the document

let channel = ''; // ours, "web:…"
let own = new Set(); // inputs whose answer this page streams itself
let asking = 0; // messages sent and not yet accepted
let held = []; // events that wait until it is known whose they are
let shown = new Set(); // ids of history lines
let loading = null; // events that come while the history is being read, else null
let loop = null; // AbortController of the running feed
let onAway = () => {}; // told when a login is needed
let lastDay = '';
let said = {}; // the agent's last line: node, text, at

// start opens the conversation and keeps its feed until stop.
export function start(signedOut) {
  onAway = signedOut;
  stop();
  loop = new AbortController();
  clear();
  follow(loop.signal);
}

export function stop() {
  loop?.abort();
  loop = null;
  setVoice('');
  toast('');
}

function clear() {
  $('items').replaceChildren();
  own = new Set();
  shown = new Set();
  held = [];
  loading = null;
  lastDay = '';
}

function state(kind, banner) {
  $('state').className = kind === 'online' ? 'good' : 'away-now';
  $('state').textContent = t(kind);
  $('banner').hidden = !banner;
  $('banner').textContent = banner || '';
}

// follow keeps the feed of events open, whatever happens to the agent or the line.
async function follow(signal) {
  let wait = 500;
  let lastID = '';
  while (!signal.aborted) {
    try {
      await stream('GET', 'events', undefined, (name, data, id) => {
        if (id) lastID = id;
        if (name === 'hello') {
          wait = 500;
          channel = data.channel;
          state('online', '');
          if (!lastID || data.gap) names().then(() => history(signal));
          return;
        }
        if (name === 'lost') { history(signal); return; }
        take(name, data);
      }, { signal, headers: lastID ? { 'Last-Event-ID': lastID } : {} });
    } catch (e) {
      if (signal.aborted) return;
      if (e instanceof Problem && (e.status === 401 || e.status === 403)) { onAway(); return; }
      state(e.status === 503 ? 'away' : 'offline', e.status === 503 ? e.message || t('agentDown') : t('lineDown'));
    }
    await pause(wait);
    wait = Math.min(wait * 2, 5000);
  }
}

// names asks how the household calls its things; without them ids are shown.
async function names() {
  loading ??= [];
  try { know(await call('GET', 'home')); } catch { /* ids will do */ }
}

// history shows the last lines anew. What comes meanwhile waits, and only what
// the list does not have yet follows it.
async function history(signal) {
  loading ??= [];
  let items = null;
  try {
    ({ items } = await call('GET', 'chat/history?limit=100'));
  } catch { /* the feed says what is wrong */ }
  const waiting = loading || [];
  loading = null;
  if (signal.aborted) return;
  if (items) {
    // Lines that are still growing belong to this page and stay at the end.
    const growing = [...document.querySelectorAll('#items > .live')];
    $('items').replaceChildren();
    shown = new Set();
    lastDay = '';
    for (const it of items) line(it);
    $('items').append(...growing);
    $('welcome').hidden = items.length > 0 || growing.length > 0;
    bottom(true);
  }
  const last = items?.at(-1)?.time || '';
  for (const [name, e] of waiting) {
    const had = name === 'message' ? items?.some((it) => it.role === 'agent' && it.text === e.text && it.input === e.reply_to) : e.time <= last;
    if (!had) take(name, e);
  }
}

function line(it) {
  if (shown.has(it.id)) return;
  shown.add(it.id);
  day(it.time);
  if (it.role === 'did') did(it.call, it.status, it.text);
  else if (it.role === 'user') bubble('user', it.text, sourceTag(it.source));
  else if (!again(it.text, it.time)) bubble('agent', it.text, '', it.files, false, it.time);
}

function day(time) {
  const d = new Date(time);
  if (Number.isNaN(d.getTime())) return;
  const text = d.toLocaleDateString(document.documentElement.lang, { month: 'long', day: 'numeric', weekday: 'long' });
  if (text === lastDay) return;
  lastDay = text;
  if (d.toDateString() !== new Date().toDateString()) add(el('li', { class: 'day' }, text));
}

// take shows one event of the feed.
function take(name, e) {
  if (loading) { loading.push([name, e]); return; }
  const ours = e.channel === channel;
  if (asking > 0 && ((ours && (name === 'raw_input' || name === 'message')) || name === 'tool_call')) {
    held.push([name, e]); // it may belong to what is being sent just now
    return;
  }
  if ((e.source || '').startsWith('_') || (e.channel || '').startsWith('_')) return;
  switch (name) {
    case 'raw_input':
      if (!own.has(e.input)) bubble('user', e.text, sourceTag(e.source));
      break;
    case 'message': // to this login's pages
      if (own.has(e.reply_to) || again(e.text, e.time)) break;
      bubble('agent', e.text, '', e.files);
      announce(e.text);
      break;
    case 'agent_output': // to anybody else
      if (!ours && e.text && !(e.channel || '').startsWith(`${channel}:`) && !again(e.text, e.time)) bubble('agent', e.text, '', [], false, e.time);
      break;
    case 'tool_call':
      if (e.call && e.call.name !== 'output_send') did(e.call, e.result?.status, e.result?.text);
      break;
    case 'voice':
      if (e.state === 'ignored') add(el('li', { class: 'note' }, t('ignored') + (e.text || '')));
      else if (e.state !== 'notice') setVoice(e.state);
      else if (e.text) add(el('li', { class: 'note' }, e.text));
      break;
    case 'system': { // most of these are for the log; these are for people
      const text = e.state === 'plugin_failed' ? t('pluginFailed')(e.plugin) : spoken.has(e.state) ? e.text : '';
      if (text) add(el('li', { class: 'note' }, text));
      break;
    }
    default:
  }
}

// States of system events whose text is written for people.
const spoken = new Set(['notice', 'microphone_lost', 'microphone_back']);

// Only what was not typed on a page is worth a label.
function sourceTag(source) {
  return { voice: t('heard'), console: t('from_console') }[source] || '';
}

// again tells that the line before is the agent's and says the same: a timer
// rings here and aloud.
function again(text, time) {
  const at = Date.parse(time) || Date.now();
  const before = $('items').lastElementChild;
  const same = text && before !== null && before === said.node && text === said.text && at - said.at <= 120000;
  if (same) said.at = at;
  return same;
}

let voiceTimer = 0;

function setVoice(s) {
  clearTimeout(voiceTimer);
  const box = $('voice');
  const say = { listening: t('listening'), recognising: t('recognising'), thinking: t('thinking'), speaking: t('speaking'), muted: t('muted') }[s] || '';
  box.textContent = say;
  box.hidden = !say;
  $('listen').classList.toggle('on', s === 'listening');
  if (say) voiceTimer = setTimeout(() => setVoice(''), 30000); // an event may have been lost
}

function bubble(who, text, tag, files, live, time) {
  const b = el('li', { class: `bubble ${who}${live ? ' live' : ''}` }, tag ? el('span', { class: 'tag' }, tag) : null, text || '');
  for (const f of files || []) b.append(el('span', { class: 'file' }, `📄 ${f}`));
  if (who === 'agent') said = { node: b, text, at: Date.parse(time) || Date.now() };
  return add(b);
}

function did(c, status, text) {
  const bad = status && status !== 'done';
  add(el('li', { class: bad ? 'did failed' : 'did' }, deed(c, status, text)));
}

function add(e) {
  const follows = nearEnd();
  const live = document.querySelector('#items > .live');
  // What the agent does while it answers stands before the answer.
  if (live && !e.classList.contains('live')) live.before(e);
  else $('items').append(e);
  if (!e.classList.contains('note')) $('welcome').hidden = true;
  while ($('items').children.length > kept) $('items').firstElementChild.remove();
  bottom(follows);
  return e;
}

function nearEnd() {
  const log = $('log');
  return log.scrollHeight - log.scrollTop - log.clientHeight < 120;
}

function bottom(yes) {
  if (yes) $('log').scrollTop = $('log').scrollHeight;
}

// announce tells a screen reader the finished answer, not its growing pieces.
function announce(text) {
  $('said').textContent = text ? t('saidSo') + text : '';
}

// say sends a message and streams its answer.
export async function say(text) {
  const mine = bubble('user', text, '', [], true);
  bottom(true);
  const answer = { node: null, text: '', id: '', done: false };
  asking += 1;
  let accepted = false;
  const accept = () => {
    if (accepted) return;
    accepted = true;
    mine.classList.remove('live');
    asking -= 1;
    if (asking === 0) for (const [n, e] of held.splice(0)) take(n, e);
  };
  const on = (name, data) => {
    if (name === 'accepted') { answer.id = data.id; own.add(data.id); accept(); }
    grow(answer, name, data);
  };
  try {
    await stream('POST', 'chat', { text }, on);
    if (!answer.done) throw new Problem(0, { title: '' });
  } catch (e) {
    accept();
    if (e instanceof Problem && e.status === 401) { finish(answer); onAway(); return; }
    if (answer.id) await resume(answer);
    else { finish(answer); add(el('li', { class: 'note bad' }, e.message || t('lineDown'))); throw e; }
  } finally {
    accept();
    finish(answer);
  }
}

// grow adds one event of a chat to its answer.
function grow(a, name, data) {
  switch (name) {
    case 'draft':
      a.text += data.text;
      break;
    case 'notice':
      if (!a.text) a.notice = data.text;
      break;
    case 'withdraw':
      a.text = '';
      break;
    case 'message':
    case 'final':
      finish(a);
      if (data.text || data.files?.length) {
        bubble('agent', data.text, '', data.files);
        announce(data.text);
      }
      a.done = name === 'final';
      if (a.done) return;
      break;
    case 'error':
      finish(a);
      add(el('li', { class: 'note bad' }, data.title));
      a.done = true;
      return;
    default:
  }
  if (!a.node) a.node = add(el('li', { class: 'bubble agent growing live' }));
  const follows = nearEnd();
  a.node.textContent = a.text || a.notice || '';
  bottom(follows);
}

// finish takes the growing bubble away; the whole answer has its own.
function finish(a) {
  a.node?.remove();
  a.node = null;
  a.text = '';
  a.notice = '';
}

// resume takes an answer up again that the line or a restart cut short.
async function resume(a) {
  finish(a);
  const note = add(el('li', { class: 'note' }, t('cut')));
  for (let wait = 500; wait <= 8000; wait *= 2) {
    await pause(wait);
    let whole = false;
    try {
      await stream('GET', `chat/${encodeURIComponent(a.id)}`, undefined, (name, data) => {
        if (name === 'accepted') return;
        whole = whole || name === 'final' || name === 'error';
        grow(a, name, data);
      });
    } catch (e) {
      if (e instanceof Problem && (e.status === 401 || e.status === 404)) break;
    }
    if (whole) { note.remove(); return; }
    finish(a);
  }
  own.delete(a.id); // the feed brings the answer when it comes
  note.textContent = t('gone');
}

// listen opens the microphone of the house, as the wake word does.
export async function listen() {
  try {
    await call('POST', 'listen', {});
  } catch (e) {
    if (e instanceof Problem && e.status === 401) { onAway(); return; }
    const none = e instanceof Problem && e.status === 503 && e.code === 'refused';
    toast(none ? t('noMicrophone') : e.message || t('lineDown'));
  }
}

let toastTimer = 0;

// toast shows words that go by themselves; the conversation stays as it is.
export function toast(text) {
  clearTimeout(toastTimer);
  $('toast').textContent = text;
  $('toast').hidden = !text;
  if (text) toastTimer = setTimeout(() => toast(''), 8000);
}

// The status panel: what the door, the supervisor and the agent say of
// themselves, what needs a hand first. GET /api/v1/status has the rest.
import { $, el } from './dom.js';
import { call, Problem } from './api.js';
import { t, lang, label, span, stateWord } from './words.js';

export async function open(signedOut) {
  const body = $('status-body');
  body.replaceChildren(el('p', {}, t('loading')));
  $('status').showModal();
  let s;
  let voice = null;
  try {
    [s, voice] = await Promise.all([call('GET', 'status'), call('GET', 'voice').catch(() => null)]);
  } catch (e) {
    if (e instanceof Problem && e.status === 401) { $('status').close(); signedOut(); return; }
    body.replaceChildren(el('p', { class: 'error' }, e.message || t('lineDown')));
    return;
  }
  body.replaceChildren(...panel(s, voice));
}

// A part that cannot be asked is a problem in its place.
const well = (v) => (v && !(v.title && v.code) ? v : null);

function panel(s, voice) {
  const agent = well(s.agent);
  const supervisor = well(s.supervisor);
  const door = well(s.door);
  return [
    ...attention(s, voice),
    ...section('processes', [
      ...(supervisor?.processes || []).map((p) => [label(p.name), process(p)]),
      [label('uptime_s'), door && span(door.uptime_s)],
      [label('version'), door?.version],
    ]),
    ...section('provider', [
      [label('answers'), agent && (agent.provider === 'offline' ? t('offlineProvider') : agent.provider)],
      [label('turn'), agent?.turn && agent.turn.source && stateWord(agent.turn.step || 'running')],
      [label('queue'), agent && String((agent.queue?.user || 0) + (agent.queue?.internal || 0))],
    ]),
    ...section('voice', [
      [label('state'), voice && stateWord(voice.state)],
      [label('microphone'), device(agent?.audio?.microphone)],
      [label('speaker'), device(agent?.audio?.speaker)],
      [label('wake_words'), voice && (voice.wake_words?.join(', ') || t('none'))],
      [label('understands'), voice && (voice.understands?.map(tongue).join(', ') || t('none'))],
    ]),
    ...section('volume', [
      [label('speaker'), agent?.audio && `${agent.audio.volume}%${agent.audio.muted ? ` · ${label('muted')}` : ''}`],
    ]),
    folded(label('machine'), [
      ...['isolation', 'tracker', 'watchdog', 'wifi', 'data_dir'].map((k) => [label(k), supervisor?.[k]]),
      // Where nothing is recorded, the supervisor says so in the reader's language.
      [label('undo'), agent && !/^none\b/.test(agent.tracker || '') ? agent.tracker : ''],
    ]),
    folded(`${label('plugins')}${agent ? ` (${agent.plugins?.length || 0})` : ''}`, (agent?.plugins || []).map((p) => [p.name, stateWord(p.state)])),
  ].filter(Boolean);
}

// attention lists what is wrong, each with what to do about it, once.
function attention(s, voice) {
  const found = new Set();
  const say = (x) => { if (x) found.add(typeof x === 'string' ? x : x.text || ''); };
  for (const part of [s.door, s.supervisor, s.agent]) {
    if (part && !well(part)) say(part.title);
    for (const n of [...(part?.notes || []), ...(part?.notices || [])]) say(n);
  }
  for (const p of s.supervisor?.processes || []) {
    if (p.state !== 'running') say(t('processDown')(label(p.name), stateWord(p.state)));
  }
  for (const p of s.agent?.plugins || []) {
    if (p.state === 'failed') say(t('pluginDown')(p.name, p.reason || ''));
  }
  for (const d of ['microphone', 'speaker']) {
    const v = s.agent?.audio?.[d];
    if (v && !v.present) say(v.note);
  }
  for (const n of voice?.notes || []) say(n);
  found.delete('');
  if (found.size === 0) return [el('p', { class: 'good' }, t('allWell'))];
  return [el('h3', {}, t('attention')), el('ul', { class: 'notices' }, ...[...found].map((x) => el('li', { class: 'notice' }, x)))];
}

function rows(list) {
  const dl = el('dl');
  for (const [k, v] of list) if (v) dl.append(el('dt', {}, k), el('dd', {}, v));
  return dl.children.length > 0 ? dl : null;
}

function section(name, list) {
  const dl = rows(list);
  return dl ? [el('h3', {}, label(name)), dl] : [];
}

function folded(title, list) {
  const dl = rows(list);
  return dl && el('details', {}, el('summary', {}, title), dl);
}

function process(p) {
  const more = p.restarts ? [`${label('restarts')} ${p.restarts}`, p.last_exit] : [];
  return [stateWord(p.state), ...more].filter(Boolean).join(' · ');
}

function device(d) {
  return d && (d.present ? d.name : t('notPlugged'));
}

function tongue(l) {
  try { return new Intl.DisplayNames([lang], { type: 'language' }).of(l); } catch { return l; }
}

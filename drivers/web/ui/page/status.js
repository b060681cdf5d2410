// The status panel: what the door, the supervisor and the agent say of themselves.
import { $, el } from './dom.js';
import { call, Problem } from './api.js';
import { t, label, span, stateWord } from './words.js';

export async function open(signedOut) {
  const body = $('status-body');
  body.replaceChildren(el('p', {}, t('loading')));
  $('status').showModal();
  let s;
  try {
    s = await call('GET', 'status');
  } catch (e) {
    if (e instanceof Problem && e.status === 401) { $('status').close(); signedOut(); return; }
    body.replaceChildren(el('p', { class: 'error' }, e.message || t('lineDown')));
    return;
  }
  body.replaceChildren();
  for (const part of ['agent', 'supervisor', 'door']) {
    body.append(el('h3', {}, label(part)));
    const v = s[part];
    if (v && v.title && v.code) body.append(el('p', { class: 'notice' }, v.title)); // a problem in its place
    else body.append(...notices(v), render(v));
  }
}

// notices are sentences for people; they stand first and stand out.
function notices(v) {
  const list = [...(v?.notices || []), ...(v?.notes || [])];
  return list.map((n) => el('p', { class: 'notice' }, typeof n === 'string' ? n : n.text || JSON.stringify(n)));
}

// Left out: what only a developer wants; GET /api/v1/status has it.
const hidden = new Set(['notices', 'notes', 'since', 'since_unix', 'pid', 'tools', 'log_bytes', 'overruns']);
const empty = (v) => v === null || v === undefined || v === '' || (Array.isArray(v) && v.length === 0);

function render(v, depth = 0) {
  if (empty(v)) return t('none');
  if (typeof v === 'boolean') return v ? t('yes') : t('no');
  if (typeof v !== 'object') return when(v) || String(v);
  if (depth > 3) return JSON.stringify(v);
  if (Array.isArray(v)) return list(v, depth);
  const dl = el('dl');
  for (const [k, x] of Object.entries(v)) {
    if (hidden.has(k) || empty(x)) continue;
    dl.append(el('dt', {}, label(k)), el('dd', {}, value(k, x, depth)));
  }
  return dl;
}

function value(k, x, depth) {
  if (k.endsWith('uptime_s')) return span(x);
  if (k === 'state') return stateWord(x);
  if (x && typeof x === 'object' && !Array.isArray(x)) return short(x) ?? render(x, depth + 1);
  return render(x, depth + 1);
}

// when shows a point in time as people write it here.
function when(v) {
  if (typeof v !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(v)) return '';
  const d = new Date(v);
  return Number.isNaN(d.getTime()) ? '' : d.toLocaleString(document.documentElement.lang);
}

// list shows named things by their names, plain ones in a row.
function list(v, depth) {
  if (v.every((x) => x === null || typeof x !== 'object')) return v.join(', ');
  const dl = el('dl');
  v.forEach((x, i) => {
    const { name = String(i + 1), ...rest } = x || {};
    dl.append(el('dt', {}, name), el('dd', {}, short(rest) ?? render(rest, depth + 1)));
  });
  return dl;
}

// short is a thing of few plain values on one line: how it is first, then the
// reason; the version only where there is nothing else to say.
function short(o) {
  let entries = Object.entries(o).filter(([k, v]) => !hidden.has(k) && !empty(v) && !(k === 'restarts' && v === 0));
  if (entries.some(([, v]) => typeof v === 'object')) return null;
  if (o.state) entries = entries.filter(([k]) => k !== 'version');
  entries.sort(([a], [b]) => (b === 'state') - (a === 'state'));
  if (entries.length > 4) return null;
  return entries.map(([k, v]) => {
    if (k === 'state') return stateWord(v);
    if (k === 'note' || k === 'reason') return String(v);
    return `${label(k)} ${typeof v === 'boolean' ? (v ? t('yes') : t('no')) : when(v) || v}`;
  }).join(' · ');
}

// The status panel: what the door, the supervisor and the agent say of themselves.
import { $, el } from './dom.js';
import { call, Problem } from './api.js';
import { t, label, span } from './words.js';

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

function render(v, depth = 0) {
  if (v === null || v === undefined || v === '') return t('none');
  if (typeof v === 'boolean') return v ? t('yes') : t('no');
  if (typeof v !== 'object') return String(v);
  if (depth > 3) return JSON.stringify(v);
  if (Array.isArray(v)) return list(v, depth);
  const dl = el('dl');
  for (const [k, x] of Object.entries(v)) {
    if (k === 'notices' || k === 'notes') continue;
    dl.append(el('dt', {}, label(k)), el('dd', {}, k.endsWith('uptime_s') ? span(x) : render(x, depth + 1)));
  }
  return dl;
}

// list shows named things by their names, plain ones in a row.
function list(v, depth) {
  if (v.length === 0) return t('none');
  if (v.every((x) => x === null || typeof x !== 'object')) return v.join(', ');
  const dl = el('dl');
  v.forEach((x, i) => {
    const { name = String(i + 1), ...rest } = x || {};
    dl.append(el('dt', {}, name), el('dd', {}, short(rest) ?? render(rest, depth + 1)));
  });
  return dl;
}

// short is a thing of few plain values on one line.
function short(o) {
  const entries = Object.entries(o).filter(([k, v]) => v !== '' && v !== null && !k.endsWith('_unix'));
  if (entries.some(([, v]) => typeof v === 'object')) return null;
  entries.sort(([a], [b]) => (b === 'state') - (a === 'state')); // how it is, before anything else
  return entries.map(([k, v]) => (k === 'state' ? String(v) : `${label(k)} ${v}`)).join(' · ');
}

// The only place that talks to the machine: /api/v1 of the door that served the page.
import { lang } from './words.js';

// Problem is a refusal in words; status 0 means that nobody answered.
export class Problem extends Error {
  constructor(status, doc) {
    super(doc.title || `HTTP ${status}`);
    this.status = status;
    this.code = doc.code || '';
    this.wait = doc.wait || 0;
  }
}

async function request(method, path, body, options = {}) {
  const sign = path.includes('?') ? '&' : '?';
  const headers = { Accept: options.accept || 'application/json', 'X-Homeagent': '1', ...options.headers };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let resp;
  try {
    resp = await fetch(`/api/v1/${path}${sign}lang=${lang}`, {
      method, headers, signal: options.signal, credentials: 'same-origin', cache: 'no-store',
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new Problem(0, { title: '' });
  }
  if (!resp.ok) {
    let doc = {};
    try { doc = await resp.json(); } catch { /* a proxy between us: only the status is known */ }
    doc.wait = Number(resp.headers.get('Retry-After')) || 0;
    throw new Problem(resp.status, doc);
  }
  return resp;
}

export async function call(method, path, body) {
  const resp = await request(method, path, body);
  const text = await resp.text();
  return text && /json/.test(resp.headers.get('Content-Type') || '') ? JSON.parse(text) : null;
}

// stream calls on(name, data, id) for each event until the stream ends.
export async function stream(method, path, body, on, options = {}) {
  const resp = await request(method, path, body, { ...options, accept: 'text/event-stream' });
  const reader = resp.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let event = { name: 'message', data: [], id: '' };
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (e) {
      if (e.name === 'AbortError') throw e;
      throw new Problem(0, { title: '' });
    }
    if (chunk.done) return;
    const lines = (rest + chunk.value).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (event.data.length > 0) on(event.name, JSON.parse(event.data.join('\n')), event.id);
        event = { name: 'message', data: [], id: event.id };
        continue;
      }
      const i = line.indexOf(':');
      const field = i < 0 ? line : line.slice(0, i);
      const value = i < 0 ? '' : line.slice(i + 1).replace(/^ /, '');
      if (field === 'event') event.name = value;
      else if (field === 'data') event.data.push(value);
      else if (field === 'id') event.id = value;
    }
  }
}

// pause waits; for the time between two tries.
export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

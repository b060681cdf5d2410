// Which of the views is shown, and the forms around them.
import { $, el, show } from './dom.js';
import { call, Problem } from './api.js';
import { t, lang, use, apply } from './words.js';
import * as talk from './talk.js';
import * as status from './status.js';

let view = '';

function head() {
  $('lang').textContent = t('otherLang');
  $('lang').setAttribute('aria-label', t('otherLangLabel'));
  $('lang').lang = lang === 'zh' ? 'en' : 'zh-CN';
  $('open-status').hidden = $('sign-out').hidden = view !== 'talk';
  $('examples').replaceChildren(...t('examples').map((x) => el('li', {}, el('button', { type: 'button', onclick: () => send(x) }, x))));
}

function go(to) {
  if (view === 'talk' && to !== 'talk') talk.stop();
  view = to;
  show(to);
  head();
  if (to !== 'talk') { $('state').textContent = ''; $('banner').hidden = true; }
  if (to === 'talk') talk.start(boot);
  const first = { claim: 'code', login: 'password', talk: 'text' }[to];
  // A touch screen would throw its keyboard over the conversation.
  if (first && (to !== 'talk' || matchMedia('(hover: hover)').matches)) $(first).focus();
}

// boot asks the door what to show.
async function boot() {
  try {
    const s = await call('GET', 'session');
    // Why a house that is not new must be claimed again.
    $('claim-notes').replaceChildren(...(s.notes || []).map((n) => el('p', { class: 'error' }, n.text)));
    go(!s.claimed ? 'claim' : s.logged_in ? 'talk' : 'login');
  } catch {
    go('down');
  }
}

function failed(form, e) {
  const text = e instanceof Problem ? e.message || t('lineDown') : String(e);
  form.querySelector('.error').textContent = e.wait ? `${text} ${t('wait')(e.wait)}` : text;
}

// submit runs f for a form, once at a time.
function onSubmit(form, f) {
  form.addEventListener('submit', async (ev) => {
    ev.preventDefault();
    const button = form.querySelector('[type=submit]');
    if (button.disabled) return;
    button.disabled = true;
    form.querySelector('.error').textContent = '';
    try {
      await f();
    } catch (e) {
      failed(form, e);
      if (e.code === 'already_claimed') boot();
    } finally {
      button.disabled = false;
    }
  });
}

onSubmit($('claim-form'), async () => {
  const [code, password, repeat] = ['code', 'new-password', 'repeat'].map((id) => $(id).value);
  const wrong = (id, words) => { $(id).focus(); throw new Problem(422, { title: t(words) }); };
  if (!code.trim()) wrong('code', 'needCode');
  if ([...password].length < 8) wrong('new-password', 'tooShort');
  if (password !== repeat) wrong('repeat', 'notSame');
  await call('POST', 'claim', { code, password, lang });
  $('claim-form').reset();
  go('talk');
});

onSubmit($('login-form'), async () => {
  if (!$('password').value) { $('password').focus(); throw new Problem(422, { title: t('needPassword') }); }
  await call('POST', 'login', { password: $('password').value });
  $('login-form').reset();
  go('talk');
});

async function send(text) {
  try {
    await talk.say(text);
  } catch {
    if (!$('text').value) { $('text').value = text; fit(); } // refused: nothing typed is lost
  }
}

function fit() {
  const box = $('text');
  box.style.height = 'auto';
  box.style.height = `${box.scrollHeight + 2}px`;
}

function sendTyped() {
  const text = $('text').value.trim();
  if (!text) return;
  $('text').value = '';
  fit();
  send(text);
}

$('say-form').addEventListener('submit', (ev) => { ev.preventDefault(); sendTyped(); });
$('text').addEventListener('input', fit);
$('text').addEventListener('keydown', (ev) => {
  // While an input method is composing, Enter chooses a word.
  if (ev.key === 'Enter' && !ev.shiftKey && !ev.isComposing && ev.keyCode !== 229) { ev.preventDefault(); sendTyped(); }
});
$('listen').addEventListener('click', () => talk.listen());
$('open-status').addEventListener('click', () => status.open(boot));
$('close-status').addEventListener('click', () => $('status').close());
// A tap beside the panel closes it; Escape does so by itself.
$('status').addEventListener('click', (ev) => {
  const r = $('status').getBoundingClientRect();
  const beside = ev.clientX < r.left || ev.clientX > r.right || ev.clientY < r.top || ev.clientY > r.bottom;
  if (ev.target === $('status') && beside) $('status').close();
});
$('retry').addEventListener('click', boot);
$('sign-out').addEventListener('click', async () => {
  try { await call('POST', 'logout', {}); } catch { /* the next request shows it */ }
  boot();
});
$('lang').addEventListener('click', () => {
  use(lang === 'zh' ? 'en' : 'zh');
  head();
  if (view === 'claim') boot(); // the door's words too
  if (view === 'talk') talk.start(boot); // lines already shown are written anew
  if ($('status').open) { $('status').close(); status.open(boot); }
  // The account remembers it for the words of the door; nothing hangs on that.
  if (view === 'talk') call('PUT', 'account', { lang }).catch(() => {});
});

apply();
head();
boot();

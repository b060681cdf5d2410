// Small helpers for the document. Text always enters as text, never as markup.

export const $ = (id) => document.getElementById(id);

// el makes an element; props are properties, except class and data-*.
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (k === 'class') e.className = v;
    else if (k.startsWith('data-') || k.startsWith('aria-')) e.setAttribute(k, v);
    else e[k] = v;
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ''));
  return e;
}

// show makes exactly one of the sections visible.
export function show(id) {
  for (const s of document.querySelectorAll('main > section')) s.hidden = s.id !== id;
}

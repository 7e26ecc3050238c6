// The deletion of a workspace or a user, who may own links.
import { h, replace } from './dom.js';
import { del, get, query, wrong } from './api.js';
import { dialog, field, form } from './ui.js';
import { has, nameOf } from './choice.js';
import { number } from './format.js';

const most = 100; // workspaces per request

// removal asks to type a word and then deletes the object at a path of the API. If links would be lost, the API refuses
// with counts; the dialog then asks what becomes of them. It calls done after the deletion.
export function removal({ title, text, word, label, path, without, done }) {
  dialog(title, (close) => {
    const fate = h('div', { class: 'list' });
    const self = form([h('p', null, text), fate,
      field('confirmation', label, { autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', autofocus: true, help: [h('span', null, 'To confirm, type '), h('b', { class: 'mono', dir: 'auto' }, word)] })], 'Delete', async (v) => {
      if (v.confirmation.trim() !== word) throw wrong('confirmation', 'does not match');
      if (v.fate === '') throw wrong('fate', 'choose what becomes of the links');
      if (v.fate === 'transfer' && !v.transferTo) throw wrong('transferTo', 'choose a workspace');
      let got;
      try {
        got = await del(path + query({ transferTo: v.fate === 'transfer' && v.transferTo, deleteLinks: v.fate === 'delete' }));
      } catch (err) {
        if (err.status !== 409 || !err.body?.counts) throw err;
        await ask(err.body.counts);
        return;
      }
      close();
      await done(got);
    }, { cancel: close, kind: 'danger', class: 'body' });

    async function ask(counts) {
      const targets = (await get(`/api/workspaces${query({ limit: most })}`)).data.filter((w) => w.id !== without && has(w, 'EDITOR'));
      const target = h('div', { hidden: true }, field('transferTo', 'Workspace', { options: [['', 'Choose\u2026'], ...targets.map((w) => [w.id, nameOf(w)])] }));
      replace(fate, h('p', { class: 'alert', role: 'alert' }, said(path.startsWith('/api/users/') ? counts : { ...counts, workspaces: 0 })),
        field('fate', 'What becomes of the links?', { options: [['', 'Choose\u2026'], ['transfer', 'Move them to another workspace'], ['delete', 'Delete them; they stop working']], onchange: (e) => { target.hidden = e.target.value !== 'transfer'; } }), target);
      fate.querySelector('select').focus();
    }
    return self;
  });
}

function said({ workspaces, links, bundles }) {
  const count = (n, one, many) => n > 0 && `${number(n)} ${n === 1 ? one : many}`;
  const parts = [count(workspaces, 'workspace', 'workspaces'), count(links, 'link', 'links'), count(bundles, 'bundle', 'bundles')].filter(Boolean);
  return `Not deleted yet: this would also delete ${new Intl.ListFormat('en').format(parts)}.`;
}

// One workspace: its name, members and invitations, and its deletion.
import { h } from './dom.js';
import { get, put } from './api.js';
import { address, current, follow, has, nameOf, roleName } from './choice.js';
import { badge, button, card, field, form, notify } from './ui.js';
import { members } from './members.js';
import { invitations } from './invitations.js';
import { enter, slugHelp } from './workspaces.js';
import { removal } from './removal.js';

export async function workspace({ id, user, signal, go, reload, workspacesChanged }) {
  const path = `/api/workspaces/${encodeURIComponent(id)}`;
  const w = await get(path, { signal });
  const name = nameOf(w);
  document.title = `${name} \u00b7 Shortline`;

  async function gone(text) {
    notify(text);
    if (current()?.id === w.id) await follow('');
    await workspacesChanged();
    await go('/console/workspaces');
  }

  function settings() {
    if (!has(w, 'ADMIN')) return null;
    return card('Name and slug', form(h('div', { class: 'pair' }, field('name', 'Name', { value: w.name, maxlength: 100, autocomplete: 'off', dir: 'auto' }),
      field('slug', 'Slug', { value: w.slug, maxlength: 40, autocomplete: 'off', autocapitalize: 'none', help: `${slugHelp} Programs that use the old one lose the workspace.` })), 'Save', async (v) => {
      await put(path, { name: v.name, slug: v.slug.trim() });
      notify('Saved.');
      await workspacesChanged();
      await go(address(`/console/workspaces/${w.id}`), { instead: true }); // with the new slug
    }, { kind: '' }));
  }

  const about = { w, path, user, signal, reload, workspacesChanged, gone: () => gone('You have left the workspace.') };
  const member = w.isPersonal ? null : await members(about);
  const invited = !w.isPersonal && has(w, 'ADMIN') ? await invitations(about) : null;
  const remove = () => removal({
    title: 'Delete this workspace?', text: 'Its members lose access, and its webhooks and API keys are deleted. This cannot be undone.', word: w.slug, label: 'Slug of the workspace', path, without: w.id,
    done: () => gone('The workspace was deleted.'),
  });

  return [h('nav', { 'aria-label': 'Back', class: 'back' }, h('a', { href: '/console/workspaces' }, '\u2190 All workspaces')),
    h('header', { class: 'heading link' }, h('div', null, h('h1', { tabindex: '-1', dir: 'auto' }, name), h('p', { class: 'address' }, h('span', { class: 'mono' }, w.slug), badge(roleName(w.role)))),
      h('div', { class: 'actions' }, current()?.id === w.id ? null : button('Work here', () => enter(w, go), { kind: 'primary' }),
        has(w, 'OWNER') && !w.isPersonal && button('Delete', remove, { kind: 'danger-quiet', symbol: 'trash' }))),
    w.isPersonal && h('p', { class: 'lead' }, 'A personal workspace has no other members. Create another workspace to share links.'),
    member, invited, settings()];
}

// Deleted links: restore them, or delete them for good.
import { h } from './dom.js';
import { post, del, query } from './api.js';
import { may } from './choice.js';
import { attempt, button, confirm, dialog, field, form, iconButton, notify } from './ui.js';
import { bare, number, time } from './format.js';
import { chips } from './tags.js';
import { called, domainField, ownHost } from './domainfield.js';

// trashed returns a deleted link as a row of the list.
export function trashed(u, load, colors) {
  const again = button('Restore', () => attempt(again, () => restore(u, load)), { symbol: 'restore', 'aria-label': `Restore ${called(u)}` });
  return h('li', { class: 'row' },
    h('div', { class: 'what' }, h('b', { class: 'title' }, u.title || bare(u.originalUrl)), h('div', { class: 'short' }, h('span', { class: 'mono' }, bare(u.shortUrl))), u.title && h('div', { class: 'target' }, u.originalUrl), chips(u.tags, colors)),
    h('div', { class: 'gone' }, h('span', null, 'Deleted ', h('time', { datetime: u.deletedAt }, time(u.deletedAt))),
      u.purgeAt && h('span', null, 'Kept until ', h('time', { datetime: u.purgeAt }, time(u.purgeAt))), h('span', null, u.clickCount === 1 ? '1 click' : `${number(u.clickCount)} clicks`)),
    h('div', { class: 'tools' }, may('EDITOR') && [again, iconButton('trash', `Delete ${called(u)} for good`, () => purge(u, load), 'danger')]));
}

// restore restores a link. It asks for another slug or external id if the old one was taken meanwhile, and for another
// domain if the old one is gone.
async function restore(u, done) {
  const path = `/api/urls/${u.id}/restore`;
  const restored = async () => {
    notify(`${bare(u.shortUrl)} works again.`);
    await done();
  };
  try {
    await post(path);
    return await restored();
  } catch (err) {
    const taken = (name) => err.fields?.some((f) => f.field === name);
    if (err.status !== 409 || !['slug', 'externalId', 'domain'].some(taken)) throw err;
    const domain = taken('domain') && domainField({ preset: null, within: u.workspaceId, help: `${u.domain} is not in service any more.` });
    await domain?.ready;
    const inputs = [
      domain && (domain.value() === undefined ? h('p', null, `${u.domain} is not in service any more. The link returns on ${ownHost}.`) : domain.element),
      (domain || taken('slug')) && field('slug', 'New slug', { value: domain ? u.slug : '', maxlength: 50, autocomplete: 'off', autocapitalize: 'none', autofocus: true, help: !domain && `Another link uses \u201c${u.slug}\u201d now.` }),
      taken('externalId') && field('externalId', 'New external id', { maxlength: 255, autocomplete: 'off', help: `Another link uses \u201c${u.externalId}\u201d now. Leave it empty for none.` }),
    ];
    dialog('Restore under another address', (close) => form(inputs, 'Restore', async (v) => {
      const body = {};
      if (domain) body.domain = domain.value() ?? null;
      if (domain || taken('slug')) body.slug = v.slug.trim();
      if (taken('externalId')) body.externalId = v.externalId.trim() || null;
      u = await post(path, body);
      close();
      await restored();
    }, { cancel: close, class: 'body' }));
  }
}

function purge(u, done) {
  confirm('Delete this link for good?', `${bare(u.shortUrl)} and its reports, rules and history are deleted. This cannot be undone.`, 'Delete for good', async () => {
    await del(`/api/urls/${u.id}${query({ permanently: true })}`);
    notify('Deleted for good.');
    await done();
  });
}

// Changes of an object that somebody else may have changed since it was loaded.
import { h } from './dom.js';
import { get, matching, put, query } from './api.js';
import { may, me } from './choice.js';
import { button, dialog, table } from './ui.js';
import { fieldName, fieldValue } from './fields.js';
import { since } from './format.js';

// Fields that change without an edit, or follow from others.
const derived = ['clickCount', 'updatedAt', 'isAbTest', 'ogImageUrl', 'shortUrl', 'matchCount', 'lastMatchedAt', 'urlCount', 'totalClicks', 'totalSent', 'totalSuccess', 'totalFailed', 'lastSentAt', 'lastError'];

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// edited returns the fields of a form (body) that differ from those of an object. Fields that the object does not have
// are always sent.
export const edited = (object, body) => Object.fromEntries(Object.entries(body).filter(([name, value]) => !(name in object) || !same(value, object[name])));

// guarded saves changes (body) of an object (seen) at a path of the API. If somebody else has changed the object since it
// was loaded, the user decides. It returns the saved object, or undefined if nothing was saved; reload is called with the
// present object if the user drops the changes. kind names the object in words, and author returns the last change.
export async function guarded(path, seen, body, { kind, author = none, reload }) {
  for (let base = seen; ;) {
    try {
      return await put(path, body, matching(base));
    } catch (err) {
      const now = err.body?.current;
      if (err.status !== 412 || !now) throw err;
      const by = await author().catch(() => null); // the question does not depend on it
      const choice = await conflict(kind, seen, now, body, by);
      if (choice === 'load') await reload(now);
      if (choice !== 'save') return undefined;
      base = now;
    }
  }
}

const none = async () => null;

// changed returns a function for guarded that finds the last change of a link, or of one of its rules or variants, as
// {user, at}.
export const changed = (link, part, id) => async () => {
  const { data } = await get(`/api/urls/${link}/history${query({ limit: 20 })}`);
  return data.find((e) => !part || e[part].some((one) => one.id === id)) ?? null;
};

// audited is changed for objects that have no history. Only administrators of the workspace see the audit log.
export const audited = (id) => async () => {
  if (!may('ADMIN')) return null;
  const { logs } = await get(`/api/audit-logs${query({ entityId: id, pageSize: 1 })}`);
  return logs.length ? { at: logs[0].createdAt, user: logs[0].user && { ...logs[0].user, name: logs[0].user.name || logs[0].user.email } } : null;
};

// conflict shows how the present state of an object (now) differs from the loaded one (u), and what a change (body) would
// set. The promise is 'save' to save the change all the same, 'load' to drop it, or undefined.
function conflict(kind, u, now, body, by) {
  const differs = Object.keys(now).filter((name) => !derived.includes(name) && !same(now[name], u[name]));
  const both = differs.filter((name) => name in body);
  const who = by?.user?.id === me()?.id ? `You have saved the ${kind} elsewhere` : h('span', null, h('b', { dir: 'auto' }, by?.user?.name ?? 'Somebody else'), ` has saved the ${kind}`);
  return new Promise((done) => {
    let answer;
    dialog(`This ${kind} has changed meanwhile`, (close) => {
      const choose = (value) => () => {
        answer = value;
        close();
      };
      return h('div', { class: 'body' },
        h('p', null, who, ' since you opened it', by?.at && ` (${since(by.at)})`, '. Your changes are not saved yet.'),
        differs.length > 0 ? h('div', { class: 'card flat' }, table('What has changed', [['Field'], ['Before'], ['Now'], ['Your change']], differs.map((name) =>
          [h('b', null, fieldName(name)), fieldValue(name, u[name]), fieldValue(name, now[name]), name in body ? fieldValue(name, body[name]) : '\u2013']))) : h('p', null, 'The changed fields are not shown, such as a secret.'),
        h('p', { class: 'help' }, both.length ? `If you save all the same, your change replaces ${both.length === 1 ? 'this field' : 'these fields'}: ${both.map(fieldName).join(', ')}. All other fields keep their present state.` : 'You have changed other fields. If you save, both changes stay.'),
        h('div', { class: 'actions' }, button('Keep editing', close, { autofocus: true }), button('Drop my changes', choose('load'), { kind: 'danger-quiet' }), button('Save all the same', choose('save'), { kind: 'primary' })));
    }, { wide: true, closed: () => done(answer) });
  });
}

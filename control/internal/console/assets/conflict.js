// The question what to do if somebody else has changed a link since it was loaded.
import { h } from './dom.js';
import { button, dialog, table } from './ui.js';
import { fieldName, fieldValue } from './fields.js';

// Fields that change without an edit, or follow from others.
const derived = ['clickCount', 'updatedAt', 'isAbTest', 'ogImageUrl', 'shortUrl'];

// conflict shows how the present state of a link (now) differs from the loaded one (u), and what a change (body) would
// set. The promise is 'save' to save the change all the same, 'load' to drop it, or undefined.
export function conflict(u, now, body) {
  const changed = Object.keys(now).filter((name) => !derived.includes(name) && JSON.stringify(now[name]) !== JSON.stringify(u[name]));
  const both = changed.filter((name) => name in body);
  return new Promise((done) => {
    let answer;
    dialog('This link has changed meanwhile', (close) => {
      const choose = (value) => () => {
        answer = value;
        close();
      };
      return h('div', { class: 'body' },
        h('p', null, 'Somebody else has saved the link since you opened it. Your changes are not saved yet.'),
        changed.length > 0 && h('div', { class: 'card flat' }, table('What has changed', [['Field'], ['Before'], ['Now'], ['Your change']], changed.map((name) =>
          [h('b', null, fieldName(name)), fieldValue(name, u[name]), fieldValue(name, now[name]), name in body ? fieldValue(name, body[name]) : '\u2013']))),
        h('p', { class: 'help' }, both.length ? `If you save all the same, your change replaces ${both.length === 1 ? 'this field' : 'these fields'}: ${both.map(fieldName).join(', ')}. All other fields keep their present state.` : 'You have changed other fields. If you save, both changes stay.'),
        h('div', { class: 'actions' }, button('Keep editing', close, { autofocus: true }), button('Drop my changes', choose('load'), { kind: 'danger-quiet' }), button('Save all the same', choose('save'), { kind: 'primary' })));
    }, { wide: true, closed: () => done(answer) });
  });
}

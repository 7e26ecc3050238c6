// Moving links to another workspace.
import { h } from './dom.js';
import { get, post, query, wrong } from './api.js';
import { current, has, nameOf } from './choice.js';
import { dialog, field, form, notify } from './ui.js';
import { number } from './format.js';

const most = 100; // workspaces per request

// move asks for a workspace and moves the links with these ids there. It calls done afterwards.
export async function move(ids, done) {
  const targets = (await get(`/api/workspaces${query({ limit: most })}`)).data.filter((w) => w.id !== current()?.id && has(w, 'EDITOR'));
  const what = ids.length === 1 ? 'this link' : `these ${number(ids.length)} links`;
  if (!targets.length) return notify('There is no other workspace in which you may create links. Create one under \u201cWorkspaces\u201d.', 'bad');
  dialog('Move to workspace', (close) => form([
    h('p', null, `Members of the new workspace see ${what} with all clicks, and members of this one no longer do. Short addresses, rules and tests stay as they are. Bundles of this workspace lose ${ids.length === 1 ? 'the link' : 'the links'}.`),
    field('workspaceId', 'Workspace', { options: [['', 'Choose\u2026'], ...targets.map((w) => [w.id, nameOf(w)])], autofocus: true }),
  ], 'Move', async (v) => {
    if (!v.workspaceId) throw wrong('workspaceId', 'choose a workspace');
    await post('/api/urls/transfer', { urlIds: ids, workspaceId: v.workspaceId });
    close();
    notify(`Moved to ${nameOf(targets.find((w) => w.id === v.workspaceId))}.`);
    await done();
  }, { cancel: close, class: 'body' }));
}

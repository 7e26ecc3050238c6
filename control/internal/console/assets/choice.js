// The workspace in which the console works. Every page's address names it, so that a tab keeps its workspace and a
// colleague can open the same page. Another tab begins with the last choice in this browser.
import { get, query, workIn } from './api.js';

const ranks = ['VIEWER', 'EDITOR', 'ADMIN', 'OWNER']; // from least to most rights
const names = { VIEWER: 'Viewer', EDITOR: 'Editor', ADMIN: 'Admin', OWNER: 'Owner' };
const everywhere = '*'; // names all workspaces in addresses
const key = 'workspace'; // in the browser's storage
const most = 100; // workspaces per request

let user = null;
let mine = [];
let chosen; // null: all workspaces, for administrators of the system; undefined: no choice yet

export const roleName = (role) => names[role] ?? role;
export const roles = [...ranks].reverse().map((role) => [role, names[role]]);
export const current = () => chosen;

// me returns the user who is signed in.
export const me = () => user;

// trashDays returns for how many days deleted links can be restored, 0 if they cannot, and undefined if the server does
// not tell it, as those of earlier releases.
export const trashDays = () => (chosen ?? mine[0])?.trashDays;

// nameOf returns the name to show for a workspace, or for all of them (null).
export const nameOf = (w) => (w === null ? 'All workspaces' : w.ownerEmail && w.id !== user.id ? `${w.name} (${w.ownerEmail})` : w.name);

// joined returns the user's workspaces, the personal one first.
export const joined = () => mine;

// standard returns the workspace in which requests work that name none.
const standard = () => (user.role === 'ADMIN' ? null : mine[0]);
const nameInAddress = (w) => (w === null ? everywhere : w.slug);

// has reports whether the user has the role or a higher one in a workspace. The API checks it again.
export const has = (w, role) => user.role === 'ADMIN' || ranks.indexOf(w.role) >= ranks.indexOf(role);

// may is has for the chosen workspace.
export const may = (role) => chosen === null || has(chosen, role);

// address returns an address of the console that names the chosen workspace.
export const address = (path, values = {}) => path + query({ ...values, workspace: chosen === standard() ? '' : nameInAddress(chosen) });

// load reads the workspaces of a user. It returns false if the chosen one is no longer among them; then the choice is
// the standard.
export async function load(who, options) {
  user = who;
  mine = await read(options);
  return follow(chosen === undefined ? kept() : chosen?.id ?? everywhere, options);
}

async function read(options) {
  const all = [];
  try {
    for (let page = 1, pages = 1; page <= pages; page++) {
      // An administrator who names a workspace gets only those of which they are a member. The id of the personal one is
      // that of the user.
      const got = await get(`/api/workspaces${query({ page, limit: most })}`, { within: user.id, ...options });
      all.push(...got.data);
      pages = got.totalPages;
    }
  } catch (err) {
    // During an upgrade, a replica of a release without workspaces may answer.
    if (err.status !== 404) throw err;
    all.push({ id: user.id, slug: user.id, name: 'Personal', isPersonal: true, role: 'OWNER' });
  }
  return all;
}

// follow chooses the workspace that an address names, by slug or id, or the standard for ''. It returns false if the
// user reaches no such workspace; then the choice is the standard, too.
export async function follow(name, options) {
  choose(standard());
  if (name === '' || name === everywhere && user.role === 'ADMIN') return true;
  let found = mine.find((w) => w.slug === name || w.id === name);
  try {
    if (!found && user.role === 'ADMIN') found = await get(`/api/workspaces/${encodeURIComponent(name)}`, options);
  } catch (err) {
    if (err.status !== 404) throw err;
  }
  choose(found ?? standard());
  return Boolean(found);
}

// choose sets the workspace, or all of them with null.
export function choose(w) {
  chosen = w;
  workIn(w === null ? '' : w.id);
  try {
    localStorage.setItem(key, `${user.id} ${nameInAddress(w)}`);
  } catch {
    // The browser may forbid it. The address keeps the choice.
  }
}

// kept returns the last choice of this user in this browser, or ''.
function kept() {
  try {
    const [id, name] = (localStorage.getItem(key) ?? '').split(' ');
    return id === user.id ? name : '';
  } catch {
    return '';
  }
}

// forget drops the choice of a user who has signed out.
export function forget() {
  [user, mine, chosen] = [null, [], undefined];
  workIn('');
}

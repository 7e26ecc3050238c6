// Who is signed in, and in which workspace they work.
import { computed, signal } from '@preact/signals';
import { api, ApiError, onSessionEnd, inWorkspace, type Lack, type Schema } from './api/client';
import { path, place, query, stay } from './route';
import { t } from './text';

export type User = Schema<'User'>;
export type Workspace = Schema<'Workspace'>;

const stored = 'shortline.workspace';

/** Where the palette keeps what was found last. It has names of links, so it goes with the session. */
export const recents = 'shortline.recent';

/** The user; null: nobody is signed in; undefined: not known yet. */
export const user = signal<User | null | undefined>(undefined);

/** The workspaces of which the user is a member, and one that an administrator of the system has chosen. */
export const workspaces = signal<Workspace[]>([]);

/** Whether the user can work in others than `workspaces`, which the API finds. */
export const more = signal(false);

// A tab keeps its workspace. A new one begins with the last choice in this browser.
const chosen = signal(sessionStorage.getItem(stored) ?? localStorage.getItem(stored) ?? '');

/** The workspace in which the user works. */
export const workspace = computed(
  () =>
    workspaces.value.find((w) => w.id === chosen.value) ??
    workspaces.value.find((w) => w.isPersonal) ??
    workspaces.value[0],
);

/** The name of a workspace for people. */
export function nameOf({ id, name, isPersonal, ownerEmail }: Workspace): string {
  if (!isPersonal) return name;
  const own = name === 'Personal' ? t('account.personal') : name; // what the API calls it
  return id === user.value?.id ? own : `${own} (${ownerEmail ?? ''})`;
}

const ranks = ['VIEWER', 'EDITOR', 'ADMIN', 'OWNER'] as const;

/** Whether the user has a role in a workspace, or a higher one. */
export function may(role: (typeof ranks)[number], within = workspace.value): boolean {
  const own = within?.role;
  return own !== undefined && ranks.indexOf(own) >= ranks.indexOf(role);
}

/** Lets requests and addresses name the workspace. */
function settle(): void {
  const w = workspace.value;
  inWorkspace(w?.id ?? '');
  place.value = !w || w.id === workspaces.value.find((one) => one.isPersonal)?.id ? '' : w.slug;
}

/** Changes the workspace. Screens load again, because their requests read `workspace`. */
export function workIn(id: string): void {
  for (const storage of [sessionStorage, localStorage]) storage.setItem(stored, id);
  chosen.value = id;
  settle();
}

/** Set while the session has ended or lacks a second factor: a dialog covers the page, and calls `done` after success. */
export const waiting = signal<{ lack: Lack; done: () => void } | undefined>(undefined);

let again: Promise<void> | undefined;

/** Requests that fail together wait for one sign-in. */
function ask(lack: Lack): Promise<void> {
  again ??= new Promise<void>((resolve) => {
    const done = () => {
      waiting.value = undefined;
      again = undefined;
      resolve();
    };
    waiting.value = { lack, done };
  });
  return again;
}

/** Reads the workspaces of a user again, after one of them, or the user's role, has changed. */
export async function reloadWorkspaces(of = user.value): Promise<void> {
  if (!of) return;
  // An administrator who names no workspace gets the workspaces of all users. The personal one has the id of its user.
  const [list, all] = await Promise.all([
    api.get('/api/workspaces', { query: { pageSize: 100 }, headers: { 'X-Workspace': of.id } }),
    of.role === 'ADMIN' ? api.get('/api/workspaces', { query: { pageSize: 1 } }) : undefined,
  ]);
  const id = chosen.value;
  more.value = (all ?? list).total > list.data.length;
  if (more.value && id && !list.data.some((one) => one.id === id)) {
    try {
      list.data.push(await api.get('/api/workspaces/{id}', { path: { id } }));
    } catch (error) {
      if (!(error instanceof ApiError && (error.status === 403 || error.status === 404))) throw error;
    }
  }
  workspaces.value = list.data;
  settle();
}

/** Addresses that name neither a workspace nor a screen in one: the last choice stays. */
const starts = ['/', '/login'];

/** Works in the workspace that the address names by its slug, or by its id as in e-mails. The personal one has no name there. */
async function follow(): Promise<void> {
  const name = query.value.get('workspace');
  const isNamed = (one: Workspace) => (name === null ? one.isPersonal : one.id === name || one.slug === name);
  if (name === null && starts.includes(path.value)) {
    stay();
    return;
  }
  if (name !== null && more.value && !workspaces.value.some(isNamed)) {
    const query = { search: name.slice(0, 255), pageSize: 100 };
    const { data } = await api.get('/api/workspaces', { query });
    workspaces.value = [...workspaces.value, ...data.filter(isNamed)];
  }
  const named = workspaces.value.find(isNamed);
  if (named) workIn(named.id);
  stay();
}

/** Reads who is signed in. It throws ApiError if the server cannot say. */
export async function load(): Promise<void> {
  onSessionEnd(undefined);
  const me = await api.get('/api/auth/me', { signIn: true }).catch((error: unknown) => {
    if ((error as { status?: number }).status === 401) return null;
    throw error;
  });
  if (me) {
    await reloadWorkspaces(me);
    await follow();
    onSessionEnd(ask);
  }
  user.value = me;
}

export async function signOut(): Promise<void> {
  onSessionEnd(undefined);
  await api.post('/api/auth/logout', { signIn: true });
  for (const storage of [sessionStorage, localStorage]) {
    for (const name of [stored, recents]) storage.removeItem(name);
  }
  location.reload(); // nothing of this user stays in memory
}

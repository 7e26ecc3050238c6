// Who is signed in, and in which workspace they work.
import { computed, signal } from '@preact/signals';
import { api, onSessionEnd, inWorkspace, type Schema } from './api/client';

export type User = Schema<'User'>;
export type Workspace = Schema<'Workspace'>;

const stored = 'shortline.workspace';

/** The user; null: nobody is signed in; undefined: not known yet. */
export const user = signal<User | null | undefined>(undefined);

export const workspaces = signal<Workspace[]>([]);

const chosen = signal(localStorage.getItem(stored) ?? '');

/** The workspace in which the user works. */
export const workspace = computed(
  () =>
    workspaces.value.find((w) => w.id === chosen.value) ??
    workspaces.value.find((w) => w.isPersonal) ??
    workspaces.value[0],
);

const ranks = ['VIEWER', 'EDITOR', 'ADMIN', 'OWNER'] as const;

/** Whether the user has a role in the workspace, or a higher one. */
export function may(role: (typeof ranks)[number]): boolean {
  const own = workspace.value?.role;
  return own !== undefined && ranks.indexOf(own) >= ranks.indexOf(role);
}

/** Changes the workspace. Screens load again, because their requests read `workspace`. */
export function workIn(id: string): void {
  localStorage.setItem(stored, id);
  chosen.value = id;
  inWorkspace(workspace.value?.id ?? '');
}

/** Set while the session has ended: the sign-in screen covers the page, and calls it after success. */
export const waiting = signal<(() => void) | undefined>(undefined);

let again: Promise<void> | undefined;

/** Requests that fail together wait for one sign-in. */
function ask(): Promise<void> {
  again ??= new Promise<void>((resolve) => {
    waiting.value = () => {
      waiting.value = undefined;
      again = undefined;
      resolve();
    };
  });
  return again;
}

/** Reads who is signed in. It throws ApiError if the server cannot say. */
export async function load(): Promise<void> {
  onSessionEnd(undefined);
  const me = await api.get('/api/auth/me', { signIn: true }).catch((error: unknown) => {
    if ((error as { status?: number }).status === 401) return null;
    throw error;
  });
  if (me) {
    const list = await api.get('/api/workspaces', { query: { pageSize: 100 } });
    workspaces.value = list.data;
    inWorkspace(workspace.value?.id ?? '');
    onSessionEnd(ask);
  }
  user.value = me;
}

export async function signOut(): Promise<void> {
  onSessionEnd(undefined);
  await api.post('/api/auth/logout', { signIn: true });
  location.reload(); // nothing of this user stays in memory
}

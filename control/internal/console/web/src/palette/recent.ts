// What was found and opened last in a workspace, for the next time the palette is opened.
import { recents, workspace } from '../session';

/** An object that has an address in the console. */
export interface Recent {
  id: string;
  kind: 'link' | 'bundle' | 'tag' | 'domain' | 'members';
  name: string;
  note: string;
  at: string;
  /** The workspace in which it is. */
  in: string;
}

const kept = 20;
const shown = 5;

function read(): Recent[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(recents) ?? '[]');
    return Array.isArray(list) ? (list as Recent[]) : [];
  } catch {
    return [];
  }
}

/** The last objects of the present workspace, the latest first. */
export const recent = (): Recent[] =>
  read()
    .filter((one) => one.in === workspace.value?.id)
    .slice(0, shown);

/** Keeps an object of the present workspace. */
export function remember(one: Omit<Recent, 'in'>): void {
  const here = workspace.value?.id ?? '';
  const others = read().filter(({ id, in: where }) => id !== one.id || where !== here);
  localStorage.setItem(recents, JSON.stringify([{ ...one, in: here }, ...others].slice(0, kept)));
}

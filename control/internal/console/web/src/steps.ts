// Who gets the first steps.
import { signal } from '@preact/signals';
import { may, user, type Workspace } from './session';

const stored = 'shortline.steps';
const few = 100; // links of a workspace that is no beginner any more

/** The pairs of a user and a workspace that have put the first steps away. */
const away = signal<readonly string[]>((localStorage.getItem(stored) ?? '').split(' '));

const pair = (w: Workspace): string => `${user.value?.id ?? ''}/${w.id}`;

/** Whether the navigation leads to the first steps. */
export const wantsSteps = (w: Workspace): boolean =>
  may('EDITOR', w) && w.urlCount < few && !away.value.includes(pair(w));

/** Takes the first steps out of the navigation, for this user in this workspace. */
export function putAway(w: Workspace): void {
  away.value = [...away.value, pair(w)];
  localStorage.setItem(stored, away.value.join(' '));
}

// The way from one workspace to another.
import { batch } from '@preact/signals';
import { cross, go, path } from './route';
import { visiblePlaces } from './screens';
import { reloadWorkspaces, workIn, workspace, workspaces, type Workspace } from './session';

/**
 * Works in another workspace. Objects and filters in the address belong to the old one, so the list of the present kind of
 * object is shown. Back returns to the old workspace.
 */
export function switchTo(next: Workspace, screen?: string): void {
  batch(() => {
    const old = workspace.value?.id;
    if (!workspaces.value.some((one) => one.id === next.id)) workspaces.value = [...workspaces.value, next];
    workIn(next.id);
    const here = path.value;
    const place = visiblePlaces().find(({ at }) => here === at || here.startsWith(`${at}/`));
    cross(screen ?? place?.at ?? '/links', { workspace: old }, { workspace: next.id });
  });
}

/** Works in the workspace of an entry in the history, if the entry is beside a change of it. */
export function enter(state: unknown): void {
  const id = (state as { workspace?: string } | null)?.workspace;
  if (id !== undefined && id !== workspace.value?.id && workspaces.value.some((one) => one.id === id)) workIn(id);
}

/** Returns to the personal workspace, after the present one is gone for the user. */
export async function goHome(): Promise<void> {
  batch(() => {
    workIn('');
    go('/links', { replace: true });
  });
  await reloadWorkspaces();
}

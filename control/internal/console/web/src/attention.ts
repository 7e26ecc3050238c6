// What needs a person in the present workspace: the badges of the navigation, and the notices. One small request asks for all of it.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { api, type Schema } from './api/client';
import { path } from './route';
import { user, workspace, type Workspace } from './session';

export type Kind = Schema<'Attention'>['kind'];

/** The workspace as it was last read, with what needs a person. Undefined until it is known. */
export const state = signal<Workspace | undefined>(undefined);

/** Where a kind is seen to. Alerts have no screen; they are in the notices only. */
export const placeOf: Record<Kind, string> = {
  webhook: '/webhooks',
  domain: '/domains',
  certificate: '/domains',
  destination: '/links',
  alert: '',
  abuse: '/reports',
};

/** What needs a person, if it is about the present workspace. */
export const needs = (): Schema<'Attention'>[] =>
  (state.value?.id === workspace.value?.id && state.value?.attention) || [];

/** How many things need a person at one of these places. */
export const countAt = (places: readonly string[]): number =>
  needs().reduce((sum, { kind, count }) => sum + (places.includes(placeOf[kind]) ? count : 0), 0);

const often = 60_000; // milliseconds

async function look(id: string, signal: AbortSignal): Promise<void> {
  const found = await api.get('/api/workspaces/{id}', {
    path: { id },
    query: { attention: true },
    signal,
    signIn: true,
  });
  if (!signal.aborted) state.value = found;
}

/** Follows what needs a person: it is asked for every minute, and when another screen is opened. */
export function useAttention(): void {
  const id = workspace.value?.id;
  const screen = path.value.split('/')[1];
  const who = user.value?.id;
  useEffect(() => {
    if (id === undefined) return;
    const abort = new AbortController();
    // Without an answer the badges stay: the navigation is no place that could say why.
    const ask = () => void (document.hidden || look(id, abort.signal).catch(() => undefined));
    ask();
    const timer = setInterval(ask, often);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [id, screen, who]);
}

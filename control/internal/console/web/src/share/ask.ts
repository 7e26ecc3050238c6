// Asks the server for the report. Proof of the password is in memory, and in the storage of the tab where there is one: browsers send no
// cookies to pages that other sites embed.
import type { Schema } from '../api/client';

export type View = Schema<'SharedView'>;

/** Why there is no report: it is gone, its time is over, it needs a password, too much was asked, or the server cannot answer. */
export type Lack = 'gone' | 'over' | 'password' | 'busy' | 'trouble';

export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly lack: Lack,
    /** Seconds after which to try again; 0: not told. */
    readonly wait: number,
  ) {
    super(lack);
  }
}

let pass: string | undefined;

/** The storage of the tab; undefined where the browser refuses one, as in some frames. */
function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

const lacks: Readonly<Record<number, Lack>> = { 401: 'password', 404: 'gone', 410: 'over', 429: 'busy' };

async function send<T>(path: string, init: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' });
  } catch {
    throw new Refusal('trouble', 0);
  }
  if (!answer.ok) throw new Refusal(lacks[answer.status] ?? 'trouble', Number(answer.headers.get('Retry-After')) || 0);
  return (await answer.json()) as T;
}

const place = (token: string) => `/api/shared/${encodeURIComponent(token)}`;

/** The report as it is now. It fails with a Refusal. */
export function look(token: string): Promise<View> {
  pass ??= storage()?.getItem(token) ?? '';
  return send<View>(place(token), { headers: pass ? { 'X-Report-Pass': pass } : {} });
}

/** Sends the password. It fails with a Refusal, also if the password is wrong. */
export async function unlock(token: string, password: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ password });
  const given = await send<Schema<'SharedPass'>>(`${place(token)}/unlock`, { method: 'POST', headers, body });
  pass = given.pass;
  storage()?.setItem(token, pass);
}

// How well a webhook works. That it is enabled says nothing: its receiver may refuse everything.
import type { Schema } from '../../api/client';

export type Hook = Schema<'Webhook'>;

export type Health = 'off' | 'paused' | 'idle' | 'failing' | 'shaky' | 'working';

const many = 3; // failures in a row that are no accident

/** The health of a webhook. A single failure may be an accident, unless nothing has ever succeeded. */
export function healthOf(w: Hook): Health {
  if (!w.isActive) return w.pauseReason ? 'paused' : 'off';
  if (w.totalSent === 0) return 'idle';
  if (w.totalSuccess === 0 || w.failureStreak >= many) return 'failing';
  return w.lastError === null ? 'working' : 'shaky';
}

/** Whether somebody has to see to a webhook. */
export const isBad = (w: Hook) => ['failing', 'paused'].includes(healthOf(w));

/** The share of the attempts that succeeded, between 0 and 100. Only if all did it is 100, and only if none did it is 0. */
export function successRate(w: Hook): number | undefined {
  if (w.totalSent === 0) return undefined;
  const exact = (100 * w.totalSuccess) / w.totalSent;
  if (exact === 0 || exact === 100) return exact;
  return Math.min(99.9, Math.max(0.1, Math.round(exact * 10) / 10));
}

/** The headers of a text with one per line, such as "Authorization: Bearer abc"; or the first line that is wrong. */
export function headersOf(text: string): { headers: Record<string, string> } | { wrong: string } {
  const headers: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([^:\s]+)\s*:(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined || name in headers) return { wrong: line.trim() };
    headers[name] = value.trim();
  }
  return { headers };
}

export const linesOf = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

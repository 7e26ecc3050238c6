// The names of rules and variants, which clicks have by id only.
import { signal } from '@preact/signals';
import { api } from '../../api/client';
import type { Click } from './feed';

const names = signal<Readonly<Record<string, string>>>({});
const asked = new Set<string>();

async function ask(kind: 'rule' | 'variant', id: string): Promise<void> {
  const path = { id };
  const found: readonly { id: string; name: string }[] =
    kind === 'rule'
      ? (await api.get('/api/urls/{id}/routing-rules', { path })).rules
      : (await api.get('/api/urls/{id}/variants', { path })).variants;
  names.value = { ...names.value, ...Object.fromEntries(found.map((one) => [one.id, one.name])) };
}

/** Reads the names of a link's rules and variants before they are shown. Without them, the clicks are still useful. */
export async function learnNames(link: string): Promise<void> {
  await Promise.allSettled([ask('rule', link), ask('variant', link)]);
}

/** Which rule or variant decided a click; undefined if neither did. The name is '' until it is known, and if it was deleted. */
export function decision(
  click: Click,
  link: string,
): { kind: 'rule' | 'variant'; id: string; name: string } | undefined {
  const kind = click.routingRuleId ? 'rule' : 'variant';
  const id = click.routingRuleId ?? click.variantId;
  if (!id) return undefined;
  const key = `${kind} ${id}`;
  if (!(id in names.value) && link && !asked.has(key)) {
    asked.add(key);
    ask(kind, link).catch(() => asked.delete(key)); // the next click asks again
  }
  return { kind, id, name: names.value[id] ?? '' };
}

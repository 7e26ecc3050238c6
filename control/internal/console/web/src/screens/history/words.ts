// The names of changes in the history of a link.
import type { Schema } from '../../api/client';
import { t, type Key } from '../../text';
import { labels } from '../link/fields';

type Entry = Schema<'URLChange'>;

const actions = new Map<string, Key>([
  ['EARLIER', 'history.earlier'],
  ['URL_CREATED', 'history.created'],
  ['URL_UPDATED', 'history.updated'],
  ['URL_DELETED', 'history.deleted'],
  ['URL_RESTORED', 'history.restored'],
  ['URL_ROLLED_BACK', 'history.rolledBack'],
]);

/** An action in words. Changes of rules and variants are named by themselves. */
export const actionOf = (action: string): string => t((actions.get(action) ?? 'history.updated') as 'history.updated');

/** Fields of rules and variants. */
const others = {
  name: 'labels.name',
  targetUrl: 'create.destination',
  isActive: 'rules.active',
  conditions: 'rules.conditions',
  priority: 'history.priority',
  clickBaseline: 'history.clickBaseline',
  trackConversions: 'import.field.trackConversions',
  stickiness: 'import.field.stickiness',
  weight: 'test.weight',
} as const;

/** Switches that follow from the rules and variants themselves. */
export const hidden = new Set(['isSmartRouting', 'isABTesting']);

export function fieldOf(name: string): string {
  if (Object.hasOwn(labels, name)) return t(labels[name as keyof typeof labels]);
  return Object.hasOwn(others, name) ? t(others[name as keyof typeof others]) : name;
}

/** A change of a rule or a variant in words. */
export function partOf(kind: 'rule' | 'variant', { name, changes }: Entry['variants'][number]): string {
  const values = Object.values(changes);
  const how = values.every((one) => one.old === null)
    ? 'Added'
    : values.every((one) => one.new === null)
      ? 'Removed'
      : 'Changed';
  return t(`history.part.${kind}${how}`, { name });
}

/** Who made a change. */
export const personOf = ({ user }: Entry): string => (user ? (user.name ?? t('history.gone')) : t('audit.nobody'));

/** What a change was about: its fields, or its rules and variants. Without any, what was done. */
export function aboutOf(entry: Entry): string[] {
  const about = [
    ...Object.keys(entry.changes)
      .filter((name) => !hidden.has(name))
      .map(fieldOf),
    ...entry.routingRules.map((part) => partOf('rule', part)),
    ...entry.variants.map((part) => partOf('variant', part)),
  ];
  const whole = entry.action !== 'URL_UPDATED' && actions.has(entry.action);
  return whole || about.length === 0 ? [actionOf(entry.action)] : about;
}

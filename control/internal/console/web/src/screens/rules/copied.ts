// What copying rules to another link changes there.
import type { Schema } from '../../api/client';

type Rule = Schema<'RoutingRule'>;
type DraftRule = Schema<'DraftRule'>;

/** Whether a link keeps its own rules. */
export type Mode = 'add' | 'replace';

/** The rules that a link will have, and the names of those that change. */
export interface Copied {
  rules: DraftRule[];
  added: string[];
  replaced: string[];
  removed: string[];
}

/** Rules in the order in which they are asked. */
export const inOrder = (rules: readonly Rule[]): Rule[] => rules.toSorted((a, b) => b.priority - a.priority);

const draftOf = ({ name, targetUrl, conditions, isActive }: Rule): DraftRule => ({
  name,
  targetUrl,
  conditions,
  isActive,
});

/** All rules of a link as they are, for the API. They have no ids: some of them may be gone when this is sent. */
export const asTheyAre = (rules: readonly Rule[]): DraftRule[] =>
  rules.map((one) => ({ ...draftOf(one), priority: one.priority }));

const same = (a: DraftRule, b: DraftRule): boolean =>
  JSON.stringify([a.targetUrl, a.conditions, a.isActive]) === JSON.stringify([b.targetUrl, b.conditions, b.isActive]);

/**
 * Copies rules to a link. A rule of the same name is replaced where it is, so that copying again changes nothing. Others are asked after
 * those that the link has, or instead of them.
 */
export function copyTo(theirs: readonly Rule[], copies: readonly Rule[], mode: Mode): Copied {
  const left = inOrder(copies).map((one, place) => ({ rule: draftOf(one), place }));
  const out: Copied = { rules: [], added: [], replaced: [], removed: [] };
  const kept = inOrder(theirs).flatMap((one) => {
    const found = left.findIndex(({ rule }) => rule.name === one.name);
    const [copy] = found < 0 ? [] : left.splice(found, 1);
    if (copy && !same(copy.rule, draftOf(one))) out.replaced.push(one.name);
    if (!copy && mode === 'replace') out.removed.push(one.name);
    if (!copy && mode === 'replace') return [];
    return [{ rule: { ...(copy?.rule ?? draftOf(one)), id: one.id }, place: copy?.place ?? 0 }];
  });
  out.added = left.map(({ rule }) => rule.name);
  const all: { rule: DraftRule; place: number }[] = [...kept, ...left];
  // Instead of the link's own rules, copies have the order that they have here.
  if (mode === 'replace') all.sort((a, b) => a.place - b.place);
  out.rules = all.map(({ rule }, at) => ({ ...rule, priority: all.length - at }));
  return out;
}

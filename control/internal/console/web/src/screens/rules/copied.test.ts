import { expect, it } from 'vitest';
import type { Schema } from '../../api/client';
import { asTheyAre, copyTo } from './copied';

type Rule = Schema<'RoutingRule'>;

const rule = (name: string, priority: number, targetUrl = `https://example.com/${name}`): Rule =>
  ({
    ...{ id: `id-${name}`, name, priority, targetUrl, isActive: true },
    conditions: { operator: 'AND', conditions: [{ type: 'device', operator: 'equals', value: 'MOBILE' }] },
  }) as Rule;

const said = ({ rules, ...changes }: ReturnType<typeof copyTo>) => ({
  rules: rules.map(({ id, name, priority }) => [id ?? '', name, priority]),
  ...changes,
});

it('adds rules after those of the link, and replaces those of the same name', () => {
  const theirs = [rule('last', 1), rule('first', 9), rule('phones', 5, 'https://example.com/other')];
  expect(said(copyTo(theirs, [rule('phones', 2), rule('tablets', 1)], 'add'))).toEqual({
    rules: [
      ['id-first', 'first', 4],
      ['id-phones', 'phones', 3],
      ['id-last', 'last', 2],
      ['', 'tablets', 1],
    ],
    added: ['tablets'],
    replaced: ['phones'],
    removed: [],
  });
});

it('replaces all rules, in the order of the copies', () => {
  const copies = [rule('tablets', 1), rule('phones', 2)];
  expect(said(copyTo([rule('phones', 5), rule('gone', 6)], copies, 'replace'))).toEqual({
    rules: [
      ['id-phones', 'phones', 2],
      ['', 'tablets', 1],
    ],
    added: ['tablets'],
    replaced: [],
    removed: ['gone'],
  });
});

it('changes nothing the second time', () => {
  const copies = [rule('phones', 2), rule('tablets', 1)];
  const { added, replaced, removed, rules } = copyTo(copies, copies, 'add');
  expect([added, replaced, removed]).toEqual([[], [], []]);
  expect(rules).toEqual(asTheyAre(copies).map((one) => ({ ...one, id: `id-${one.name}` })));
});

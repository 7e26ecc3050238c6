import { describe, expect, it } from 'vitest';
import {
  condition,
  count,
  depth,
  find,
  group,
  insert,
  locate,
  maxDepth,
  move,
  parse,
  place,
  remove,
  step,
  toJSON,
  update,
} from './model';

const german = () => condition('country', 'equals', 'DE');
const phone = () => condition('device', 'equals', 'MOBILE');

describe('a tree of conditions', () => {
  it('is read from JSON and written again', () => {
    const json = {
      operator: 'OR',
      conditions: [
        { type: 'country', operator: 'in', value: ['DE', 'AT'] },
        { operator: 'AND', conditions: [{ type: 'query', operator: 'equals', value: { name: 'ref', value: 'mail' } }] },
      ],
    };
    expect(toJSON(parse(json))).toEqual(json);
    expect(toJSON(parse({ type: 'device', operator: 'equals', value: 'MOBILE' }))).toEqual({
      operator: 'AND',
      conditions: [{ type: 'device', operator: 'equals', value: 'MOBILE' }],
    });
    // Rules that a program has made can have the other form.
    const leaf = { type: 'device', operator: 'equals', value: 'MOBILE' };
    const other = { logicalOperator: 'or', items: [leaf, { logicalOperator: 'AND', items: [leaf] }] };
    expect(toJSON(parse(other))).toEqual({
      operator: 'OR',
      conditions: [leaf, { operator: 'AND', conditions: [leaf] }],
    });
    expect(toJSON(parse(null))).toEqual({ operator: 'AND', conditions: [] });
    expect(toJSON(parse({}))).toEqual({ operator: 'AND', conditions: [] });
    // A misspelt name must not make the rule apply to everybody: the API refuses a condition without a type.
    const refused = { type: '', operator: '', value: null };
    expect(toJSON(parse({ operator: 'AND', condition: [leaf] }))).toEqual({ operator: 'AND', conditions: [refused] });
    expect(toJSON(parse({ operator: 'AND', conditions: [{ typ: 'device' }, leaf, 'x'] }))).toEqual({
      operator: 'AND',
      conditions: [refused, leaf, refused],
    });
  });

  it('shares what has not changed', () => {
    const inner = group('OR', [german()]);
    const one = phone();
    const root = group('AND', [one, inner]);
    const next = update(root, one.id, (part) => ({ ...part, operator: 'not_equals' }) as typeof part);
    expect(next).not.toBe(root);
    expect(next.parts[1]).toBe(inner);
    expect(update(root, -1, () => undefined)).toBe(root);
  });

  it('moves parts, also within their group', () => {
    const [a, b, c] = [german(), phone(), german()] as const;
    const root = group('AND', [a, b, c]);
    expect(move(root, a.id, root.id, 3).parts.map((p) => p.id)).toEqual([b.id, c.id, a.id]);
    expect(move(root, c.id, root.id, 0).parts.map((p) => p.id)).toEqual([c.id, a.id, b.id]);
    expect(move(root, b.id, root.id, 1)).toBe(root);
    expect(move(root, b.id, root.id, 2)).toBe(root);
  });

  it('does not move a group into itself, nor deeper than the API allows', () => {
    const inner = group('OR', [german()]);
    const outer = group('AND', [inner]);
    const root = group('AND', [outer]);
    expect(move(root, outer.id, inner.id, 0)).toBe(root);
    let deep = group('AND', []);
    for (let i = 1; i < maxDepth; i++) deep = group('AND', [deep]);
    const extra = group('OR', []);
    const all = insert(deep, deep.id, 1, extra);
    let bottom = deep;
    while (bottom.parts[0]?.kind === 'group') bottom = bottom.parts[0];
    expect(depth(all)).toBe(maxDepth);
    expect(move(all, extra.id, bottom.id, 0)).toBe(all);
  });

  it('moves by keys: over a neighbour, into a group, out of it', () => {
    const [a, b] = [german(), phone()] as const;
    const inner = group('OR', [b]);
    const root = group('AND', [a, inner]);
    const into = step(root, a.id, 1);
    expect(place(into, a.id)).toMatchObject({ in: { id: inner.id }, at: 0 });
    const over = step(into, a.id, 1);
    expect(place(over, a.id)).toMatchObject({ in: { id: inner.id }, at: 1 });
    const out = step(over, a.id, 1);
    expect(place(out, a.id)).toMatchObject({ in: { id: root.id }, at: 1 });
    expect(step(out, a.id, 1)).toBe(out);
    expect(count(out)).toBe(2);
  });

  it('finds the part of a problem', () => {
    const [a, b] = [german(), phone()] as const;
    const inner = group('OR', [b]);
    const root = group('AND', [a, inner]);
    expect(locate(root, 'conditions.conditions[1].conditions[0].value[2]')).toEqual({ id: b.id, rest: 'value.2' });
    expect(locate(root, 'conditions.conditions.0.operator')).toEqual({ id: a.id, rest: 'operator' });
    expect(locate(root, 'conditions')).toEqual({ id: root.id, rest: '' });
    expect(locate(root, 'conditions.conditions[7].value')).toEqual({ id: root.id, rest: 'conditions.7.value' });
  });

  // Every tree that can be reached by moving keeps its parts.
  it('keeps all parts whatever is moved', () => {
    let state = 7;
    const random = (n: number) => (state = (state * 48271) % 2147483647) % n;
    let root = group('AND', [
      german(),
      group('OR', [phone(), group('AND', [german(), phone()])]),
      group('AND', []),
      phone(),
    ]);
    const ids: number[] = [];
    const collect = (part: typeof root | ReturnType<typeof german>) => {
      ids.push(part.id);
      if (part.kind === 'group') part.parts.forEach((one) => collect(one));
    };
    collect(root);
    const before = new Set(ids);
    for (let i = 0; i < 2000; i++) {
      const id = ids[random(ids.length)] ?? 0;
      root = random(2) ? step(root, id, random(2) ? 1 : -1) : move(root, id, ids[random(ids.length)] ?? 0, random(4));
    }
    ids.length = 0;
    collect(root);
    expect(new Set(ids)).toEqual(before);
    expect(ids.length).toBe(before.size);
    expect(find(remove(root, ids[3] ?? 0), ids[3] ?? 0)).toBeUndefined();
  });
});

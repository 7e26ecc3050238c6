// The conditions of a routing rule as a tree that can be edited. docs/users/rules.md describes the JSON form.
//
// Trees are never changed in place: each function returns a new tree that shares the unchanged parts with the old one. So undo
// keeps old trees, and a part is drawn again only if it has changed.

export type Combination = 'AND' | 'OR';

/** Conditions of which all (AND) or one (OR) must hold. */
export interface Group {
  readonly kind: 'group';
  /** Names the part on this page; it is not stored. */
  readonly id: number;
  readonly operator: Combination;
  readonly parts: readonly Part[];
}

/** One question about a visitor. */
export interface Condition {
  readonly kind: 'condition';
  readonly id: number;
  readonly type: string;
  readonly operator: string;
  readonly value: unknown;
}

export type Part = Group | Condition;

/** Limits of the API. */
export const maxDepth = 8;
export const maxConditions = 100;

let last = 0;

export const group = (operator: Combination, parts: readonly Part[]): Group => ({
  kind: 'group',
  id: ++last,
  operator,
  parts,
});

export const condition = (type: string, operator: string, value: unknown): Condition => ({
  kind: 'condition',
  id: ++last,
  type,
  operator,
  value,
});

/**
 * Reads the JSON form, in both spellings that the API takes and returns. A condition alone becomes a group with it, and null or {} an
 * empty group. What is not of that form becomes a condition without a type, which the API refuses: left out, the rule would say more.
 */
export function parse(json: unknown): Group {
  const empty = typeof json !== 'object' || json === null || Object.keys(json).length === 0;
  const part = empty ? undefined : (read(json) ?? unreadable());
  if (part?.kind === 'group') return part;
  return group('AND', part ? [part] : []);
}

const unreadable = (): Condition => condition('', '', null);

function read(json: unknown): Part | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const fields = json as Record<string, unknown>;
  const list = fields['conditions'] ?? fields['items'];
  if (Array.isArray(list)) {
    const parts = list.map((one) => read(one) ?? unreadable());
    const operator = fields['operator'] ?? fields['logicalOperator'];
    return group(typeof operator === 'string' && operator.toUpperCase() === 'OR' ? 'OR' : 'AND', parts);
  }
  if (typeof fields['type'] !== 'string') return undefined;
  return condition(fields['type'], typeof fields['operator'] === 'string' ? fields['operator'] : '', fields['value']);
}

/** The JSON form, as the API takes it. */
export function toJSON(part: Part): object {
  if (part.kind === 'group') return { operator: part.operator, conditions: part.parts.map(toJSON) };
  return { type: part.type, operator: part.operator, value: part.value };
}

/** Replaces the part with that id by what `change` returns; undefined removes it. */
export function update(root: Group, id: number, change: (part: Part) => Part | undefined): Group {
  const visit = (part: Part): Part | undefined => {
    if (part.id === id) return change(part);
    if (part.kind === 'condition') return part;
    let changed = false;
    const parts: Part[] = [];
    for (const one of part.parts) {
      const next = visit(one);
      changed ||= next !== one;
      if (next) parts.push(next);
    }
    return changed ? { ...part, parts } : part;
  };
  const next = visit(root);
  return next?.kind === 'group' ? next : { ...root, parts: [] };
}

export const remove = (root: Group, id: number): Group => update(root, id, () => undefined);

/** Puts a part into the group with that id, before the part at the position. */
export const insert = (root: Group, into: number, at: number, part: Part): Group =>
  update(root, into, (target) =>
    target.kind === 'group' ? { ...target, parts: target.parts.toSpliced(at, 0, part) } : target,
  );

/** The part with that id; undefined if there is none. */
export function find(root: Part, id: number): Part | undefined {
  if (root.id === id) return root;
  if (root.kind === 'condition') return undefined;
  for (const part of root.parts) {
    const found = find(part, id);
    if (found) return found;
  }
  return undefined;
}

/** The group that contains a part, and the position of the part in it. */
export function place(root: Group, id: number): { in: Group; at: number } | undefined {
  for (const [at, part] of root.parts.entries()) {
    if (part.id === id) return { in: root, at };
    const found = part.kind === 'group' ? place(part, id) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The number of groups within each other, a group alone being 1. */
export const depth = (part: Part): number =>
  part.kind === 'condition' ? 0 : 1 + Math.max(0, ...part.parts.map((one) => depth(one)));

export const count = (part: Part): number =>
  part.kind === 'condition' ? 1 : part.parts.reduce((sum, one) => sum + count(one), 0);

/**
 * Moves a part into a group, before the part that is at the position now. The tree stays as it is if the group is inside the
 * part, or if groups would be nested too deep.
 */
export function move(root: Group, id: number, into: number, at: number): Group {
  const part = find(root, id);
  const from = place(root, id);
  if (!part || !from || find(part, into) || find(root, into)?.kind !== 'group') return root;
  const to = from.in.id === into && from.at < at ? at - 1 : at;
  if (from.in.id === into && from.at === to) return root;
  const next = insert(remove(root, id), into, to, part);
  return depth(next) > maxDepth ? root : next;
}

/** Where a part can go with one press of an arrow key: over its neighbour, into a neighbouring group, or out of its own. */
export function step(root: Group, id: number, direction: -1 | 1): Group {
  const from = place(root, id);
  if (!from) return root;
  const neighbour = from.in.parts[from.at + direction];
  if (neighbour?.kind === 'group') {
    const moved = move(root, id, neighbour.id, direction === 1 ? 0 : neighbour.parts.length);
    if (moved !== root) return moved;
  }
  if (neighbour) return move(root, id, from.in.id, direction === 1 ? from.at + 2 : from.at - 1);
  const outer = place(root, from.in.id);
  return outer ? move(root, id, outer.in.id, direction === 1 ? outer.at + 1 : outer.at) : root;
}

/**
 * The part that a problem of the API is about, and the rest of its path. The API names parts by position, such as
 * `conditions.conditions[1].conditions[0].value`.
 */
export function locate(root: Group, field: string): { id: number; rest: string } {
  const names = field.split(/[.[\]]+/).filter(Boolean);
  if (names[0] === 'conditions') names.shift(); // the rule's field, whose value is the root
  let here: Part = root;
  while (here.kind === 'group' && names[0] === 'conditions' && names[1] !== undefined) {
    const next: Part | undefined = here.parts[Number(names[1])];
    if (!next) break;
    here = next;
    names.splice(0, 2);
  }
  return { id: here.id, rest: names.join('.') };
}

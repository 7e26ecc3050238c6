// What an entry of the audit log says has changed.

export interface Change {
  field: string;
  before: string;
  after: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function text(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The fields that differ between two values of an entry. A value that is no object is one field without a name. */
export function changesOf(before: unknown, after: unknown): Change[] {
  if (!isObject(before ?? {}) || !isObject(after ?? {})) {
    return before === null && after === null ? [] : [{ field: '', before: text(before), after: text(after) }];
  }
  const [old, now] = [(before ?? {}) as Record<string, unknown>, (after ?? {}) as Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .map((field) => ({ field, before: text(old[field]), after: text(now[field]) }))
    .filter((one) => one.before !== one.after);
}

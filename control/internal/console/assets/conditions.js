// Describes conditions of rules in words.

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

// condition describes one condition.
export function condition({ type, operator, value }) {
  let text = typeof value === 'object' ? JSON.stringify(value) : value;
  if (Array.isArray(value)) text = value.map((v) => (type === 'day_of_week' && weekdays[v]) || v).join(', ');
  else if (value?.start && value.end) text = `${value.start} and ${value.end}`;
  return `${String(type).replaceAll('_', ' ')} ${String(operator).replaceAll('_', ' ')} ${text}`;
}

// sentence describes a group of conditions. The API has two forms of groups.
export function sentence(c, inner) {
  const members = c?.conditions ?? c?.items;
  if (!members) return condition(c ?? {});
  const text = members.map((m) => sentence(m, true)).join(` ${String(c.operator ?? c.logicalOperator).toLowerCase()} `);
  return inner && members.length > 1 ? `(${text})` : text;
}

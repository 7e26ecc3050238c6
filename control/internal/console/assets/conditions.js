// Describes conditions of rules in words, and adds conditions to a group.
import { h, replace } from './dom.js';
import { button, field, notify } from './ui.js';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

// condition describes one condition.
export function condition({ type, operator, value }) {
  let text = typeof value === 'object' ? JSON.stringify(value) : value;
  if (Array.isArray(value)) text = value.map((v) => (type === 'day_of_week' && weekdays[v]) || v).join(', ');
  else if (value?.start && value.end) text = `${value.start} and ${value.end}`;
  else if (type === 'query' && value) return `${value.name} ${String(operator).replaceAll('_', ' ')} ${[value.value].flat().join(', ')}`;
  else if (value?.start || value?.end) text = value.start || value.end;
  return `${String(type).replaceAll('_', ' ')} ${String(operator).replaceAll('_', ' ')} ${text}`;
}

// sentence describes a group of conditions. The API has two forms of groups.
export function sentence(c, inner) {
  const members = c?.conditions ?? c?.items;
  if (!members) return condition(c ?? {});
  const text = members.map((m) => sentence(m, true)).join(` ${String(c.operator ?? c.logicalOperator).toLowerCase()} `);
  return inner && members.length > 1 ? `(${text})` : text;
}

const lists = ['in', 'not_in'];
const equality = ['equals', 'not_equals', ...lists];
const text = [...equality, 'contains', 'not_contains', 'starts_with', 'ends_with'];
const clock = ['between', 'before', 'after'];
const of = (...values) => ({ options: values.map((v) => [v, v]) });

// The types of conditions: operators and the input for a value. The API checks both.
const types = {
  device: [text, of('MOBILE', 'DESKTOP', 'TABLET')], os: [text, { placeholder: 'iOS' }], browser: [text, { placeholder: 'Firefox' }],
  country: [text, { placeholder: 'DE' }], continent: [text, of('AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA')], region: [text, { placeholder: 'DE-BE' }], city: [text, { placeholder: 'Berlin' }],
  language: [text, { placeholder: 'de' }], referer: [text, { placeholder: 'news.example' }],
  utm_source: [text, {}], utm_medium: [text, {}], utm_campaign: [text, {}], utm_term: [text, {}], utm_content: [text, {}],
  query: [text, { placeholder: 'mail' }], ip: [lists, { placeholder: '198.51.100.0/24, 2001:db8::/32' }],
  time: [clock, { type: 'time' }], day_of_week: [equality, { placeholder: '1', help: '1 is Monday, 7 is Sunday.' }],
  date: [clock, { type: 'datetime-local', help: 'In the time zone of this browser.' }], visitor: [equality, of('new', 'returning')],
  percentage: [['less_than'], { type: 'number', min: 0, max: 100, step: 'any', placeholder: '12.5', help: 'Percent of the visitors.' }],
};
const words = (names) => names.map((v) => [v, v.replaceAll('_', ' ')]);

// adder returns inputs that add a condition to the group in a textarea.
export function adder(area) {
  const more = h('div', { class: 'pair' });
  const pick = (name, label, options, onchange) => {
    const element = field(name, label, { options, onchange });
    return [element, element.querySelector('select')];
  };
  const [typeField, type] = pick('newType', 'Type', words(Object.keys(types)), () => operators());
  let operator;
  const value = (name) => more.querySelector(`[name=${name}]`)?.value.trim() ?? '';

  function operators() {
    const [element, select] = pick('newOperator', 'Operator', words(types[type.value][0]), () => values(element));
    operator = select;
    values(element);
  }

  function values(first) {
    const { help, ...props } = types[type.value][1];
    const list = lists.includes(operator.value) && !props.options;
    const between = operator.value === 'between';
    replace(more, first, type.value === 'query' && field('newName', 'Parameter', { placeholder: 'ref', autocomplete: 'off' }),
      field('newValue', between ? 'From' : 'Value', { autocomplete: 'off', ...props, help: list ? `${help ?? ''} Separate several values with commas.` : help }), between && field('newEnd', 'To', props));
  }

  function authored() {
    const kind = type.value;
    let one = value('newValue');
    if (lists.includes(operator.value)) one = one.split(',').map((v) => v.trim()).filter(Boolean);
    if (kind === 'query') return { name: value('newName'), value: one };
    if (kind === 'percentage') return Number(one);
    if (!clock.includes(operator.value)) return one;
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return { start: one, ...(operator.value === 'between' && { end: value('newEnd') }), timezone };
  }

  function append() {
    let group;
    try {
      group = JSON.parse(area.value);
    } catch {
      return notify('Correct the JSON of the conditions first.', 'bad');
    }
    const members = group?.conditions ?? group?.items;
    if (!Array.isArray(members)) return notify('The conditions must be a group with a list.', 'bad');
    members.push({ type: type.value, operator: operator.value, value: authored() });
    area.value = JSON.stringify(group, null, 2);
  }

  operators();
  return h('fieldset', { class: 'field' }, h('legend', null, 'Add a condition'), h('div', { class: 'pair' }, typeField), more, button('Add condition', append, { symbol: 'plus' }));
}

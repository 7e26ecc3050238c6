// Types of the document's schemas.

/** Long lists of values that many schemas have, by the name of their type. */
export const lists = new Map();

/** Returns a file with a type for each schema. */
export function schemasFile({ components: { schemas }, webhooks }) {
  for (const name of ['ProblemCode', 'WebhookEventName'])
    if (schemas[name]) throw new Error(`a schema has the name ${name}`);
  lists.set(schemas.Answer.properties.code.enum.join(), 'ProblemCode');
  lists.set(Object.keys(webhooks).join(), 'WebhookEventName');
  const parts = Object.entries(schemas).map(([name, schema]) => {
    const about = comment(schema, '');
    if (!schema.properties) return `${about}export type ${name} = ${typeOf(schema)};\n`;
    return `${about}export interface ${name} ${members(schema, '')}\n`;
  });
  const named = [...lists].map(([values, name]) => `export type ${name} =${wrapped(values.split(','))};\n`);
  return '\n' + [...named, ...parts].join('\n');
}

/** The type of a schema, in TypeScript. */
export function typeOf(schema, indent = '') {
  if (!schema || !Object.keys(schema).length) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').pop();
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return union(several.map((one) => typeOf(one, indent)));
  if (schema.enum)
    return (
      lists.get(schema.enum.join()) ??
      union(schema.enum.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))))
    );
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, indent)));
  switch (schema.type) {
    case 'array': {
      const item = typeOf(schema.items, indent);
      return / [|&] /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      if (schema.properties) return members(schema, indent);
      return `Record<string, ${typeOf(schema.additionalProperties, indent)}>`;
    case 'integer':
      return 'number';
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string';
    case 'boolean':
    case 'number':
    case 'null':
      return schema.type;
    case undefined:
      return 'unknown';
  }
  throw new Error(`unknown type: ${JSON.stringify(schema)}`);
}

/** A long union, with as many values on a line as fit. */
function wrapped(values) {
  const lines = [''];
  for (const value of values) {
    if (lines.at(-1).length + value.length > 130) lines.push('');
    lines.push(`${lines.pop()} | '${value}'`);
  }
  return lines.map((line) => `\n ${line}`).join('');
}

const union = (types) => [...new Set(types)].join(' | ');

function members({ properties, required = [] }, indent) {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema, inner)}${inner}${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

export const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`);

/** The comment of a schema, a parameter or an operation, or nothing. */
export function comment({ description = '', deprecated, format, type }, indent) {
  const instant = format === 'date-time' && [type].flat().includes('string') && !description;
  const words = `${deprecated ? '@deprecated ' : ''}${instant ? 'A time in RFC 3339.' : description}`.trim();
  if (!words) return '';
  const lines = wrap(words.replaceAll('*/', '* /'), 136 - indent.length);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((text) => `${indent} * ${text}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function wrap(text, width) {
  const lines = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line && line.length + word.length + 1 > width - 7) {
        lines.push(line);
        line = word;
      } else line += (line && ' ') + word;
    }
    lines.push(line);
  }
  return lines;
}

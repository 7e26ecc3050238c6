// Types of the document's schemas.

/** Returns a file with a type for each schema. */
export function schemasFile({ components: { schemas } }) {
  const parts = Object.entries(schemas).map(([name, schema]) => {
    const about = comment(schema, '');
    if (!schema.properties) return `${about}export type ${name} = ${typeOf(schema)};\n`;
    return `${about}export interface ${name} ${members(schema, '')}\n`;
  });
  return '\n' + parts.join('\n');
}

/** The type of a schema, in TypeScript. */
export function typeOf(schema, indent = '') {
  if (!schema || !Object.keys(schema).length) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').pop();
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return union(several.map((one) => typeOf(one, indent)));
  if (schema.enum) return union(schema.enum.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))));
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

const union = (types) => [...new Set(types)].join(' | ');

function members({ properties, required = [] }, indent) {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${comment(schema, inner)}${inner}${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`,
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

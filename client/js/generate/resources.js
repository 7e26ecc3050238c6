// Types of the resources: an interface for each, and one for the parameters of each operation.
import { comment, key, lists, typeOf } from './schemas.js';
import { upperFirst } from './names.js';

/** Names of options, which no parameter of a query may have. The same are in src/client.js. */
const options =
  /^(headers|idempotencyKey|if(None)?Match|maxRetryAfter|on(Dropped|Reconnect)|retries|signal|timeout|token|workspace)$/;

/** Parameters that many operations have. They get an interface of their own. */
const shared = { Paging: 'listTags', ReportFilter: 'recentClicks', ReportQuery: 'heatmap' };

export function resourcesFile(resources, document) {
  const { schemas } = document.components;
  const ops = resources.flatMap(({ operations }) => operations);
  const groups = [];
  const parts = [];
  for (const [name, id] of Object.entries(shared)) {
    const { op } = ops.find((one) => one.op.operationId === id);
    const parameters = query(op).filter((p) => p.name !== 'search' && (name === 'Paging' || p.name !== 'limit'));
    parts.push(interfaceOf(name, parameters, groups));
    groups.unshift({ name, parameters });
  }
  for (const { op } of ops) {
    const parameters = query(op);
    if (parameters.length) parts.push(interfaceOf(queryName(op), parameters, groups));
  }
  for (const { name, description, operations } of resources) {
    const methods = operations.map((one) => methodOf(one, schemas)).join('');
    parts.push(`${comment({ description }, '')}export interface ${upperFirst(name)}Resource {\n${methods}}\n`);
  }
  const list = resources.map(
    ({ name, description }) => `${comment({ description }, '  ')}  readonly ${name}: ${upperFirst(name)}Resource;\n`,
  );
  parts.push(`export interface Resources {\n${list.join('')}}\n`);
  const body = parts.join('\n');
  const used = [...Object.keys(schemas), ...lists.values()].filter((schema) =>
    new RegExp(`(?<![.\\w'])${schema}(?![\\w'])`).test(body),
  );
  return `import type {\n${rows(used)}} from './schemas.js';
import type {
  Call, Fields, FileBody, Idempotent, IfMatch, IfNoneMatch, List, LiveOptions, LiveStream, NotModified, Only, Redirect, RequestOptions, Time,
} from './runtime.js';

${body}`;
}

/** Names with commas, as many on a line as fit. */
function rows(names) {
  let line = ' ';
  let text = '';
  for (const name of names) {
    if (line.length + name.length > 136) {
      text += line + '\n';
      line = ' ';
    }
    line += ` ${name},`;
  }
  return text + line + '\n';
}

/** Parameters of the query, without the names of fields, which have a type of their own. */
function query({ parameters = [] }) {
  const found = parameters.filter((p) => p.in === 'query' && p.name !== 'fields');
  for (const { name } of found)
    if (options.test(name)) throw new Error(`the parameter ${name} has the name of an option`);
  return found;
}

const queryName = ({ operationId }) => `${upperFirst(operationId)}Query`;

function interfaceOf(name, parameters, groups) {
  const bases = [];
  let own = parameters;
  for (const group of groups) {
    const same = (p) => own.some((other) => JSON.stringify(other) === JSON.stringify(p));
    if (!group.parameters.every(same)) continue;
    bases.push(group.name);
    own = own.filter((p) => !group.parameters.some((other) => other.name === p.name));
  }
  const lines = own.map(
    (p) =>
      `${comment(p, '  ')}  ${key(p.name)}${p.required ? '' : '?'}: ${parameterType(p)}${p.required ? '' : ' | undefined'};\n`,
  );
  return `export interface ${name}${bases.length ? ` extends ${bases.join(', ')}` : ''} {\n${lines.join('')}}\n`;
}

/** A repeated parameter may have one value. A time may be a Date. */
function parameterType({ name, schema }) {
  const type = typeOf(schema);
  if (/^(startDate|endDate|from|to)$/.test(name)) return 'Time';
  return schema.type === 'array' ? `${typeOf(schema.items)} | ${type.replace(/^/, 'readonly ')}` : type;
}

function methodOf({ name, path, flags, op }, schemas) {
  const has = (place, header) => (op.parameters ?? []).some((p) => p.in === place && p.name === header);
  const args = [...path.matchAll(/\{(\w+)\}/g)].map(([, variable]) => `${variable}: string`);
  const body = bodyType(op, flags);
  if (body) args.push(`body: ${body}`);
  const fields = has('query', 'fields') && objectOf(op, flags, schemas);
  const extras = [];
  if (query(op).length) extras.push(queryName(op));
  if (fields) extras.push('Fields<F>');
  extras.push(flags.includes('s') ? 'LiveOptions' : 'RequestOptions');
  if (flags.includes('i')) extras.push('Idempotent');
  if (has('header', 'If-Match')) extras.push('IfMatch');
  const optional = query(op).some((p) => p.required) ? '' : '?';
  const generic = fields ? `<F extends keyof ${fields} = keyof ${fields}>` : '';
  const result = resultType(op, flags, fields);
  const signature = (more, mark, type) =>
    `  ${name}${generic}(${[...args, `options${mark}: ${[...extras, ...more].join(' & ')}`].join(', ')}): ${type};\n`;
  const about = comment(
    { description: [op.summary + '.', op.description].filter(Boolean).join(' '), deprecated: op.deprecated },
    '  ',
  );
  if (has('header', 'If-None-Match')) {
    return (
      about +
      signature(['IfNoneMatch'], '', `Call<${result} | NotModified>`) +
      signature([], optional, `Call<${result}>`)
    );
  }
  const formats = formatsOf(op);
  if (formats) {
    return (
      about +
      formats.map(([value, type, mark]) => signature([`{ format${mark}: '${value}' }`], mark, `Call<${type}>`)).join('')
    );
  }
  if (flags.includes('s')) return about + signature([], optional, 'LiveStream');
  return about + signature([], optional, flags.includes('p') ? result : `Call<${result}>`);
}

/** The JSON of a success. */
function json({ responses }) {
  const found = Object.entries(responses).filter(([status]) => status < '300');
  return found.map(([, { content }]) => content?.['application/json']?.schema).find(Boolean);
}

/** The name of the object whose fields can be chosen: the answer, or a row of it. */
function objectOf(op, flags, schemas) {
  const schema = json(op);
  if (flags.includes('p')) return `${typeOf(schema)}['data'][number]`;
  if (schemas[typeOf(schema)]?.properties?.data?.type === 'array')
    throw new Error(`${op.operationId} is a list without pages`);
  const row = schema.type === 'array' ? schema.items : schema;
  return row.$ref ? typeOf(row) : undefined;
}

function resultType(op, flags, fields) {
  const schema = json(op);
  if (flags.includes('p')) return `List<${typeOf(schema)}${fields ? ', F' : ''}>`;
  if (fields) return schema.type === 'array' ? `Only<${fields}, F>[]` : `Only<${fields}, F>`;
  if (schema) return typeOf(schema, '  ');
  const types = new Set();
  for (const [status, { content }] of Object.entries(op.responses)) {
    if (status >= '300') continue;
    for (const type of Object.keys(content ?? {})) types.add(type.startsWith('text/') ? 'string' : 'Blob');
    if (!content) types.add('undefined');
  }
  if (flags.includes('r')) types.add('Redirect');
  return [...types].join(' | ').replace(/^undefined$/, 'void');
}

/** If a parameter chooses the form of the answer: its values, each with its type. One may be omitted. */
function formatsOf(op) {
  const format = query(op).find((p) => p.name === 'format')?.schema;
  if (!format) return undefined;
  const contents = Object.entries(op.responses['200'].content);
  const first = format.default ?? 'json';
  return format.enum.map((value) => {
    const [type, { schema }] = contents.find(([type]) => type.split(/[/+]/).includes(value));
    const result = type === 'application/json' ? typeOf(schema, '  ') : type.startsWith('text/') ? 'string' : 'Blob';
    return [value, result, value === first ? '?' : ''];
  });
}

function bodyType({ requestBody }, flags) {
  if (!requestBody) return '';
  if (flags.includes('m')) return 'FileBody';
  const schema = requestBody.content['application/json']?.schema;
  return [
    schema && typeOf(schema, '  '),
    flags.includes('n') && 'string',
    flags.includes('c') && 'string | Blob | Uint8Array',
    flags.includes('z') && 'Blob | Uint8Array',
  ]
    .filter(Boolean)
    .join(' | ');
}

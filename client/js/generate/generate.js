// Generates the table of operations and the types of the API from its OpenAPI document.
//
//   node client/js/generate/generate.js                     writes src/operations.js, types/schemas.d.ts and types/resources.d.ts
//   node client/js/generate/generate.js DOCUMENT FOLDER     reads the document from a file, and writes into another folder
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameOf, resourceOf } from './names.js';
import { resourcesFile } from './resources.js';
import { schemasFile } from './schemas.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [input, folder = root] = process.argv.slice(2);
const document = JSON.parse(input ? readFileSync(input, 'utf8') : printed());

/** The document of the sources. */
function printed() {
  const options = {
    cwd: join(root, '../../control'),
    encoding: 'utf8',
    maxBuffer: 1 << 24,
    stdio: ['ignore', 'pipe', 'inherit'],
  };
  return execFileSync(process.env.GO ?? 'go', ['run', './internal/api/openapi'], options);
}

const resources = new Map(
  document.tags.map(({ name, description }) => [name, { name: resourceOf(name), description, operations: [] }]),
);
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, op] of Object.entries(methods)) {
    const resource = resources.get(op.tags[0]);
    const name = nameOf(op);
    if (resource.operations.some((other) => other.name === name))
      throw new Error(`${resource.name}.${name} exists twice: ${op.operationId}`);
    resource.operations.push({ name, method: method.toUpperCase(), path, flags: flagsOf(method, op), op });
  }
}
const all = [...resources.values()]
  .filter(({ operations }) => operations.length)
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** The letters of an operation in the table. Its header explains them. */
function flagsOf(method, { parameters = [], requestBody, responses }) {
  const has = (place, name) => parameters.some((p) => p.in === place && p.name === name);
  const takes = Object.keys(requestBody?.content ?? {});
  const gives = Object.entries(responses).filter(([status]) => status < '300');
  const found = {
    b: takes.includes('application/json'),
    n: takes.includes('application/x-ndjson'),
    c: takes.includes('text/csv'),
    z: takes.includes('application/zip'),
    m: takes.includes('multipart/form-data'),
    i: has('header', 'Idempotency-Key'),
    p: has('query', 'page') && method === 'get',
    s: gives.some(([, { content = {} }]) => content['text/event-stream']),
    r:
      ['302', '307'].some((status) => responses[status]) &&
      !gives.some(([, { content = {} }]) => content['application/json']),
  };
  if (
    requestBody &&
    !/[bncmz]/.test(
      Object.keys(found)
        .filter((f) => found[f])
        .join(''),
    )
  )
    throw new Error(`unknown body: ${takes}`);
  if (requestBody && !requestBody.required) throw new Error('a body that may be missing');
  return Object.keys(found)
    .filter((f) => found[f])
    .join('');
}

const line = ({ name, method, path, flags }) => [name, method, path, flags].join(' ').trim();
const table = all.map(({ name, operations }) => [name, ...operations.map(line)].join('\n')).join('\n');

const head = '// Generated from the OpenAPI document by generate/generate.js. Do not edit.\n';
const files = {
  'src/operations.js': `${head}
// A resource, and below it its operations: name, method, path, and letters.
// b: a body in JSON; c: or in CSV; n: or in JSON lines; z: a ZIP file; m: a file in a form; i: takes an Idempotency-Key; p: a list of pages;
// s: a stream of events; r: answers with a redirect.
export const operations = \`
${table}
\`;
`,
  'types/schemas.d.ts': head + schemasFile(document),
  'types/resources.d.ts': head + resourcesFile(all, document),
};
for (const [name, text] of Object.entries(files)) {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

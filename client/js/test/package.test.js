// What is published: its files, its size, and that it runs everywhere.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as client from '@shortline/client';

const root = new URL('..', import.meta.url);
const read = (/** @type {string} */ name) => readFileSync(new URL(name, root), 'utf8');
const sources = readdirSync(new URL('src', root));

test('all scripts together have at most 15 KB after gzip', () => {
  const size = sources.reduce((sum, name) => sum + gzipSync(read(`src/${name}`), { level: 9 }).length, 0);
  assert.ok(size <= 15_000, `${size} bytes`);
});

test('the package needs no other, and names what it contains', () => {
  const about = JSON.parse(read('package.json'));
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) assert.equal(about[kind], undefined);
  assert.equal(about.sideEffects, false);
  assert.equal(about.license, 'Apache-2.0');
  const { types, default: main } = about.exports['.'];
  assert.equal(types, about.types);
  for (const file of [types, main]) {
    assert.ok(read(file));
    assert.ok(about.files.includes(file.split('/')[1]), `${file} is published`);
  }
});

test('scripts import nothing of Node.js, and only each other', () => {
  for (const name of sources) {
    for (const [, from = ''] of read(`src/${name}`).matchAll(/^(?:import|export) .* from '(.*)';$/gm)) {
      assert.ok(sources.includes(from.replace('./', '')), `${name} imports ${from}`);
    }
  }
});

test('what the types declare exists', () => {
  const declared = [...read('types/runtime.d.ts').matchAll(/^export (?:class|function) (\w+)/gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(Object.keys(client).sort(), [...declared, 'Shortline'].sort());
  const types = read('types/resources.d.ts');
  for (const [name, resource] of Object.entries(new client.Shortline({ url: 'https://go.example.com' }))) {
    const [, body = ''] = new RegExp(`interface ${name}Resource \\{(.*?)^\\}`, 'ims').exec(types) ?? [];
    const methods = [...body.matchAll(/^ {2}(\w+)[<(]/gm)].map(([, method]) => method);
    assert.deepEqual([...new Set(methods)].sort(), Object.keys(resource).sort(), name);
  }
});

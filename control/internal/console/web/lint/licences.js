// Writes public/licences.txt: the licences of the packages of which code is in the console. With --check it fails instead if
// the file is out of date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const target = 'public/licences.txt';
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const names = new Set();

/** Adds a package and what it needs at run time. */
function add(name) {
  if (names.has(name)) return;
  names.add(name);
  const own = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  for (const other of Object.keys(own.dependencies ?? {})) add(other);
}
for (const name of Object.keys(manifest.dependencies)) add(name);

const parts = ['The console contains code of these packages.'];
for (const name of [...names].sort()) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no licence file`);
  parts.push(
    `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}`,
  );
}
const text = `${parts.join('\n\n')}\n`;
if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error(`${target} is out of date. Run: npm run licences`);
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}

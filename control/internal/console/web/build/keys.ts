// Numbers the messages in the build: the catalogue of a language becomes a list, and the sources use the places in it. Messages whose
// names are put together get short names. The sources keep readable names. The messages that the first screen does not show are a file
// of their own, because the first screen needs one of seven.
import { readdirSync, readFileSync } from 'node:fs';
import { runnerImport, type Plugin } from 'vite';
import { short } from '../src/text/short.ts';

/** The content of the sources in a folder and below it, except for those of `but`. */
function read(folder: string, but?: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.tsx?$/.test(file) && !/\.(d|test)\.tsx?$/.test(file) && !(but && file.startsWith(but)))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .join('\n');
}

/** What names that are put together look like, as in `status.${status}`. Types and the names of drafts look the same. */
export function patterns(sources: string): RegExp[] {
  const templates = sources.matchAll(/(?<!useDraft(?:<\w+>)?\(|Extract<Key, )`([\w.]+\$\{[^`]*)`/g);
  const starts = [...templates].map(([, text = '']) =>
    text.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '[\\w.:-]+'),
  );
  return [...new Set(starts)].map((text) => new RegExp(`^${text}$`));
}

/** Splits names into those that get a number, and those that are put together, which stay. */
export function sorted(names: readonly string[], sources: string): { numbered: string[]; kept: string[] } {
  const together = patterns(sources);
  const keeps = (name: string) => together.some((one) => one.test(name)) || !sources.includes(`'${name}'`);
  return { numbered: names.filter((name) => !keeps(name)), kept: names.filter(keeps) };
}

/** The first seed with which all short names differ. */
export function seedOf(names: readonly string[]): number {
  let seed = 31;
  while (new Set(names.map((name) => short(name, seed))).size < names.length) seed++;
  return seed;
}

type Messages = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** All messages, each with its text in every language. */
async function readMessages(): Promise<Messages> {
  const options = { configFile: false, logLevel: 'error' } as const;
  const { module } = await runnerImport<{ messages: Messages }>('/src/text/messages/index.ts', options);
  return module.messages;
}

/** The messages that sources show. */
export function shown(messages: Messages, sources: string): Messages {
  const together = patterns(sources);
  const used = ([name]: [string, unknown]) => sources.includes(`'${name}'`) || together.some((one) => one.test(name));
  return Object.fromEntries(Object.entries(messages).filter(used));
}

interface Which {
  /** The sources whose messages the build has; all by default. */
  only?: () => string;
  /** The sources whose messages the first file of a language has; the same by default. */
  first?: () => string;
}

/** The plugin. */
export function numberedKeys({ only, first }: Which): Plugin {
  let messages: Messages;
  let early: Messages;
  let names: { numbered: string[]; kept: string[] };
  let places: Map<string, number>;
  let seed: number;
  /** The code of a catalogue with the messages of a language, of which the list begins at a place. */
  const catalogue = (language: string, isIn: (name: string) => boolean, from: number, values: object) => {
    const text = (name: string) => messages[name]?.[language];
    const list = JSON.stringify(names.numbered.filter(isIn).map(text));
    const rest = JSON.stringify(
      Object.fromEntries(names.kept.filter(isIn).map((name) => [short(name, seed), text(name)])),
    );
    const start = from > 0 ? `Array(${from}).concat(${list})` : list;
    return {
      code: `export const ${language} = Object.assign(${start}, ${rest}, ${JSON.stringify(values)});`,
      map: null,
    };
  };
  return {
    name: 'numbered-keys',
    apply: 'build',
    enforce: 'pre',
    async buildStart() {
      messages = await readMessages();
      const sources = only?.() ?? read('src', 'text');
      if (only) messages = shown(messages, sources);
      early = first ? shown(messages, first()) : messages;
      const all = sorted(Object.keys(messages), sources);
      names = { ...all, numbered: all.numbered.toSorted((a, b) => Number(b in early) - Number(a in early)) };
      seed = seedOf(names.kept);
      places = new Map(names.numbered.map((name, at) => [name, at]));
    },
    load(id) {
      const [, language, more] = /\/src\/text\/(\w\w)(\.more)?\.ts$/.exec(id) ?? [];
      if (language === undefined) return undefined;
      if (more === undefined) return catalogue(language, (name) => name in early, 0, { seed });
      const from = names.numbered.filter((name) => name in early).length;
      return catalogue(language, (name) => !(name in early), from, {});
    },
    transform(code, id) {
      if (!/\/src\/.*\.tsx?$/.test(id) || id.includes('/src/text/')) return undefined;
      const short = code.replace(/'([\w.-]+)'/g, (whole, name: string) => {
        const place = places.get(name);
        // Some messages are optional, and 0 would count as none.
        return place === undefined ? whole : place === 0 ? `'0'` : `${place}`;
      });
      return { code: short, map: null };
    },
  };
}

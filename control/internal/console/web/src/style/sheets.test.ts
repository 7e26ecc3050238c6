import { describe, expect, it } from 'vitest';

// A screen's style sheet stays on the page when another screen is opened. So a class must not mean different things on two screens.
const shared = import.meta.glob(['./*.css', '../ui/*.css'], { query: '?raw', import: 'default', eager: true });
const screens = import.meta.glob('../screens/**/*.css', { query: '?raw', import: 'default', eager: true });

function selectors(source: string): string[] {
  const rules = source.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/([^{}]+)\{/g);
  return [...rules].flatMap(([, list = '']) =>
    list.trim().startsWith('@')
      ? []
      : list
          .split(',')
          .map((one) => one.trim())
          .filter((one) => !/^(from|to|\d+%)$/.test(one)),
  );
}

const classes = (selector: string): string[] => [...selector.matchAll(/\.([\w-]+)/g)].map(([, name = '']) => name);

describe('style sheets of screens', () => {
  const sheets = Object.entries<string>({ ...shared, ...screens } as Record<string, string>);
  const users = new Map<string, Set<string>>();
  for (const [file, source] of sheets) {
    for (const name of selectors(source).flatMap(classes)) users.set(name, (users.get(name) ?? new Set()).add(file));
  }

  it.each(Object.keys(screens))('%s changes nothing of other screens', (file) => {
    const common = selectors(String(screens[file])).filter((one) =>
      classes(one).every((name) => users.get(name)?.size !== 1),
    );
    expect(common).toEqual([]);
  });
});

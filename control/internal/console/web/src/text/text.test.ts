import { describe, expect, it, vi } from 'vitest';
import { ar } from './ar';
import { de } from './de';
import { en } from './en';
import { es } from './es';
import { fr } from './fr';
import { ja } from './ja';
import { day, number, speak, t, utcDay, type Key, type Plural } from './index';

const words = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();

describe('the catalogue', () => {
  it('chooses the plural form of the language', async () => {
    await speak('en');
    expect([t('links.count', { n: 1 }), t('links.count', { n: 1234 })]).toEqual(['1 link', '1,234 links']);
    await speak('ar');
    expect(
      new Set([0, 1, 2, 3, 11, 100].map((n) => t('links.count', { n }).replace(/[\d٠-٩]+/g, '#'))).size,
    ).toBeGreaterThan(3);
    expect(document.documentElement.dir).toBe('rtl');
    await speak('de');
    expect([t('links.count', { n: 1234 }), number(0.5)]).toEqual(['1.234 Links', '0,5']);
    expect(document.documentElement.dir).toBe('ltr');
  });

  it('names days of UTC also where the next one has begun', async () => {
    await speak('de');
    vi.stubEnv('TZ', 'Pacific/Auckland');
    const noon = '2026-12-04T12:00:00.000Z';
    expect([day(noon), utcDay(noon), utcDay('4 December 2026 00:00 UTC')]).toEqual([
      '05.12.2026',
      '04.12.2026',
      '04.12.2026',
    ]);
    vi.unstubAllEnvs();
  });

  for (const [name, catalogue] of Object.entries({ de, fr, es, ja, ar })) {
    it(`of ${name} has the placeholders of the English one`, () => {
      const categories = new Intl.PluralRules(name).resolvedOptions().pluralCategories;
      for (const key of Object.keys(en) as Key[]) {
        const theirs: string | Plural = catalogue[key];
        const ours: string | Plural = en[key];
        if (typeof theirs === 'string' || typeof ours === 'string') {
          expect([key, words(theirs as string)]).toEqual([key, words(ours as string)]);
          continue;
        }
        for (const [category, text] of Object.entries(theirs)) {
          expect([key, categories.includes(category as Intl.LDMLPluralRule)]).toEqual([key, true]);
          // One, two or none may be written as a word.
          const missing = words(ours.other).filter((w) => !words(text).includes(w));
          expect([key, missing.filter((w) => w !== 'n')]).toEqual([key, []]);
        }
        expect([key, words(theirs.other)]).toEqual([key, words(ours.other)]);
      }
    });
  }
});

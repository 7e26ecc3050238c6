import { describe, expect, it } from 'vitest';
import { understood } from './parse';
import { addressOf, textOf } from './question';

const asked = (text: string) => {
  const question = understood(text, 'en', '2026-11-28');
  if (!question) throw new Error(`no question: ${text}`);
  return question;
};

describe('a question', () => {
  it('is shown in the words of the report', () => {
    expect(textOf(asked('mobile clicks from Germany yesterday by browser'))).toBe(
      'Phone · Germany · Nov 27, 2026 · Browsers',
    );
    expect(textOf(asked('bots from Germany, France'))).toBe('Germany or France · Bots · Last 30 days');
  });

  it('leads to the report', () => {
    const query = new URL(addressOf(asked('bots from Germany and France last week')), 'http://x').searchParams;
    expect(query.getAll('country')).toEqual(['DE', 'FR']);
    expect([query.get('from'), query.get('to'), query.get('audience')]).toEqual(['2026-11-16', '2026-11-22', 'bots']);
    expect(addressOf(asked('clicks last 7 days'))).toContain('range=week');
  });
});

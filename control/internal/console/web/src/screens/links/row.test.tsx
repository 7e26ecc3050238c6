import { render } from 'preact';
import { expect, test, vi } from 'vitest';
import { Row } from './row';
import { List, selectionOf, type Link } from './list';

test('the figures of a row have a unit and a period (finding of the console)', () => {
  const link = { id: 'a', shortUrl: 'http://x/a', originalUrl: 'https://example.com/', clickCount: 1234, tags: [] };
  const whole = { ...link, status: 'ACTIVE', createdAt: '2026-11-28T00:00:00Z' } as unknown as Link;
  render(
    <Row
      link={whole}
      index={0}
      list={new List(selectionOf(new URLSearchParams()))}
      shared={false}
      trend={[1, 2]}
      onPick={vi.fn()}
      onDo={vi.fn()}
      selectable={false}
    />,
    document.body,
  );
  expect(document.querySelector('.clicks')?.textContent).toBe('1,234 clicks in all');
  expect(document.querySelector('.trend title')?.textContent).toBe('3 clicks in 30 days');
});

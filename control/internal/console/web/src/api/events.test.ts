import { describe, expect, it } from 'vitest';
import { Parser } from './events';

describe('Parser', () => {
  it('joins events that arrive in pieces and keeps the last id', () => {
    const parser = new Parser();
    expect(parser.push('retry: 3000\nid: 7\n\nid: 8\nda')).toEqual([]);
    expect(parser.last).toBe('7');
    expect(parser.push('ta: {"a":1}\n\n: still here\n\nevent: dropped\ndata: {"count":3}\n\n')).toEqual([
      { type: 'message', data: '{"a":1}' },
      { type: 'dropped', data: '{"count":3}' },
    ]);
    expect(parser.last).toBe('8');
  });
});

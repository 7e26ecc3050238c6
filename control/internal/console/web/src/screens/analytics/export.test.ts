import { expect, it } from 'vitest';
import { csvOf } from './export';

it('writes cells that no spreadsheet evaluates, and numbers as numbers', () => {
  expect(
    csvOf([
      ['Site', 'Clicks'],
      ['=HYPERLINK("x")', 3],
      [' @a', -1],
      ["'=b", 0.5],
      ['a, b', 1],
    ]),
  ).toBe('"Site","Clicks"\r\n"\'=HYPERLINK(""x"")",3\r\n"\' @a",-1\r\n"\'\'=b",0.5\r\n"a, b",1\r\n');
});

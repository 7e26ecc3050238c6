import { afterEach, expect, test } from 'vitest';
import { speak } from './index';
import { jsonProblem } from './json';

afterEach(() => speak('en'));

test('no sentence of the browser is shown in another language than English', async () => {
  const error = new SyntaxError("Expected property name or '}' in JSON at position 2 (line 2 column 1)");
  expect(jsonProblem(error)).toBe(error.message);
  await speak('de');
  expect(jsonProblem(error)).toBe('2:1');
  expect(jsonProblem(new SyntaxError('Unexpected end of JSON input'))).toBe('SyntaxError');
  expect(jsonProblem('x')).toBe('');
});

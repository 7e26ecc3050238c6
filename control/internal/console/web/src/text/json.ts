// What is wrong with a text that should be JSON.
import { language } from './index';

/**
 * What is wrong with a text that JSON.parse refused. Browsers say it in English, so other languages get the line and the column, or
 * the name of the error.
 */
export function jsonProblem(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (language.value === 'en') return error.message;
  const at = /line (\d+) column (\d+)/.exec(error.message);
  return at ? `${at[1]}:${at[2]}` : error.name;
}

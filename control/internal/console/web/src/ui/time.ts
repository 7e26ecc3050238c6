// Times in fields.

/** An instant as the value of a field, in a time zone; the browser's by default. Swedes write times in that form. */
export function local(at: string | number | null | undefined, timeZone?: string): string {
  if (!at) return '';
  return new Date(at).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'short', timeZone }).replace(' ', 'T');
}

/** The API's form of a value in the browser's zone; null if it is empty. What is no time is left to the server, which refuses it. */
export function instant(typed: string): string | null {
  if (typed === '') return null;
  const time = new Date(typed);
  return Number.isNaN(time.getTime()) ? typed : time.toISOString();
}

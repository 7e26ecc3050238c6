// Times in fields of the kind datetime-local.

/** An instant as a datetime-local input has it, in a time zone; the browser's by default. Swedes write times in that form. */
export function local(at: string | number | null | undefined, timeZone?: string): string {
  if (!at) return '';
  return new Date(at).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'short', timeZone }).replace(' ', 'T');
}

/** The API's form of what a datetime-local input has; null if it is empty or not complete. */
export function instant(typed: string): string | null {
  const time = new Date(typed);
  return typed === '' || Number.isNaN(time.getTime()) ? null : time.toISOString();
}

// Times in fields of the kind datetime-local.

/** A time of the API as a datetime-local input has it, in the zone of the browser. */
export function local(at: string | null | undefined): string {
  if (!at) return '';
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The API's form of what a datetime-local input has; null if it is empty or not complete. */
export function instant(typed: string): string | null {
  const time = new Date(typed);
  return typed === '' || Number.isNaN(time.getTime()) ? null : time.toISOString();
}

// The address of the page: which screen is shown, and with which search. Links are plain <a> elements, so they open in new
// tabs and can be copied. A click on one of them changes the screen without loading the page again.
import { batch, computed, signal } from '@preact/signals';

/** The path of the console, without a slash at its end. */
export const base = '/console';

const here = () => new URL(location.href);
const url = signal(here());

/** The path below the console's, such as /links. The links of e-mails lead to /login, which is not below it. */
export const path = computed(() => {
  const { pathname } = url.value;
  return (pathname.startsWith(base) ? pathname.slice(base.length) : pathname).replace(/\/$/, '') || '/';
});

/** What follows # in the address, such as the secret of an invitation. */
export const fragment = computed(() => url.value.hash.slice(1));

/** The query. Do not change it; call `search`. */
export const query = computed(() => url.value.searchParams);

/** The workspace that addresses name, by its slug; '' for the user's own. So a tab keeps it, and a colleague sees the same. */
export const place = signal('');

/** Lets an address name the workspace. */
function placed(address: URL): string {
  if (place.value === '') address.searchParams.delete('workspace');
  else address.searchParams.set('workspace', place.value);
  return address.pathname + address.search + address.hash;
}

/** The address of a screen, for links. */
export const to = (screen: string): string =>
  placed(new URL((/^\/login\b/.test(screen) ? '' : base) + screen, location.origin));

/** Lets the present address name the workspace. */
export function stay(): void {
  history.replaceState(history.state, '', placed(here()));
  url.value = here();
}

/** Shows another screen. */
export function go(screen: string, { replace = false } = {}): void {
  const address = to(screen);
  if (replace) history.replaceState(history.state, '', address);
  else history.pushState(null, '', address);
  url.value = here();
}

/** Shows another screen, and leaves values in the history for when Back and Forward return to either side. */
export function cross(screen: string, from: unknown, into: unknown): void {
  history.replaceState(from, '');
  history.pushState(into, '', to(screen));
  url.value = here();
}

/**
 * Changes values of the query and keeps the rest; '' and an empty list remove a value. Without `step`, the history gets no
 * entry, so Back leaves the screen and does not undo each letter of a search.
 */
export function search(values: Record<string, string | string[]>, { step = false } = {}): void {
  const next = here();
  for (const [name, value] of Object.entries(values)) {
    next.searchParams.delete(name);
    for (const one of [value].flat()) if (one !== '') next.searchParams.append(name, one);
  }
  if (step) history.pushState(null, '', placed(next));
  else history.replaceState(history.state, '', placed(next));
  url.value = next;
}

/** Follows the links and the history of the browser. `enter` gets what `cross` has left in the history. */
export function follow(enter: (state: unknown) => void): void {
  addEventListener('popstate', (event) =>
    batch(() => {
      enter(event.state);
      url.value = here();
    }),
  );
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link?.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.pathname !== base && !link.pathname.startsWith(`${base}/`)) return;
    // A place on this page: the browser goes there, and tells with popstate.
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    url.value = here();
  });
}

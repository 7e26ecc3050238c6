// Keeps the focus when the element that has it disappears or is turned off, as the button of an action often does. Browsers then give
// it to the body, and a person with a keyboard or a screen reader starts again at the top of the page.

/** The element with the focus, and those around it, with their places among their siblings. */
let around: [Element, number][] = [];

const usable =
  ':is(a[href], button, input, select, textarea, summary, [tabindex]):not(:disabled, [type=hidden], [tabindex="-1"])';

function remember(element: Element | null): void {
  around = [];
  for (let one = element; one?.parentElement; one = one.parentElement) {
    around.push([one, [...one.parentElement.children].indexOf(one)]);
  }
}

const visible = (element: Element): element is HTMLElement =>
  element instanceof HTMLElement && element.checkVisibility();

const within = (element: Element | undefined): HTMLElement | undefined =>
  element && [...(element.matches(usable) ? [element] : []), ...element.querySelectorAll(usable)].find(visible);

/** What takes the place of an element that had the focus: a form that has opened, what stands where it was, or the heading. */
function successor(): HTMLElement | undefined {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  if (dialog) return within(dialog);
  const form = document.querySelector<HTMLElement>('main [data-first]');
  if (form) return form;
  let place = 0;
  for (const [element, at] of around) {
    if (element.isConnected && element.matches('main')) break;
    if (element.isConnected && element.closest('main')) {
      const parts = [...element.children];
      const found = [...parts.slice(place), ...parts.slice(0, place).reverse()].map(within).find(Boolean);
      if (found) return found;
    }
    place = at;
  }
  // A screen that is loading has no heading yet. The first element of the page is the link to the content, which would appear.
  return (
    document.querySelector<HTMLElement>('h1') ??
    document.querySelector<HTMLElement>('main[tabindex]') ??
    within(document.body)
  );
}

function mend(): void {
  const now = document.activeElement ?? document.body;
  // The browser takes the focus from a button that was turned off only before the next picture.
  if (around.length === 0 || (now !== document.body && !now.matches(':disabled'))) return;
  successor()?.focus({ preventScroll: true });
}

/** Begins to keep the focus in the page. */
export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => remember(target as Element));
  // A person who clicks beside everything means that.
  document.addEventListener('pointerdown', ({ target }) => {
    if (!document.activeElement?.contains(target as Node) || document.activeElement === document.body) around = [];
  });
  new MutationObserver(mend).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['disabled', 'open', 'hidden'],
  });
}

// Where the console belongs. The API accepts changes only from pages at its own address.

/** The address that the server gives to the page; undefined in development. */
function home(): URL | undefined {
  const told = document.querySelector<HTMLMetaElement>('meta[name=address]')?.content ?? '';
  return URL.canParse(told) ? new URL(told) : undefined;
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The right address, if this page was opened at another one. */
export function astray(): string | undefined {
  const right = home();
  return right && right.origin !== location.origin ? right.href : undefined;
}

/** Goes to the right address if it is another name of this machine, such as 127.0.0.1 for localhost. */
export function goHome(): boolean {
  const right = home();
  const here = astray() !== undefined && loopback.test(location.hostname);
  if (!right || !here || !loopback.test(right.hostname) || location.port !== right.port) return false;
  location.replace(right.origin + location.pathname + location.search + location.hash);
  return true;
}

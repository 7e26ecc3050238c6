import type { ComponentChildren, ComponentType } from 'preact';
import { complete } from '../text';
import { useResource } from './resource';
import { Loading } from './page';
import { Problem } from './problem';

const reloaded = 'shortline.reloaded'; // when the page was loaded again for its code
const patience = 30_000; // milliseconds; servers of two releases may answer in turn during an upgrade

/** Whether the server was upgraded since this page was loaded. Then it does not have the page's other files any more. */
async function upgraded(): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>('script[src]')?.getAttribute('src') ?? '';
  const page = await fetch('/console/', { cache: 'no-store' });
  return page.ok && !(await page.text()).includes(own);
}

/** Loads the page again if its release is gone. It happens once in a while only, so that no page is loaded for ever. */
async function renew(): Promise<void> {
  if (Date.now() - Number(sessionStorage.getItem(reloaded)) < patience) return;
  if (!(await upgraded().catch(() => false))) return;
  sessionStorage.setItem(reloaded, String(Date.now()));
  location.reload();
}

/**
 * A screen whose code is loaded when it is shown for the first time. `load` fails if the network is down; the user can try again.
 * It also fails if the server was upgraded; then the page is loaded again. Meanwhile, `waiting` is shown.
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: ComponentChildren = <Loading />,
): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined;
  function Later(props: P) {
    const code = useResource('code', async () => {
      try {
        return (Loaded ??= (await Promise.all([load(), complete()]))[0]);
      } catch (error) {
        await renew();
        throw error;
      }
    });
    const Screen = Loaded ?? code.data;
    if (Screen) return <Screen {...props} />;
    if (code.error !== undefined) return <Problem error={code.error} retry={code.reload} />;
    return waiting;
  }
  return Later;
}

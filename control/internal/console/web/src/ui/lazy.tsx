import type { ComponentChildren, ComponentType } from 'preact';
import { useResource } from './resource';
import { Loading } from './page';
import { Problem } from './problem';

/**
 * A screen whose code is loaded when it is shown for the first time. `load` fails if the network is down, or if the server was
 * upgraded and has other files now; the user can try again. Meanwhile, `waiting` is shown.
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: ComponentChildren = <Loading />,
): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined;
  function Later(props: P) {
    const code = useResource('code', async () => {
      Loaded ??= await load();
      return Loaded;
    });
    const Screen = Loaded ?? code.data;
    if (Screen) return <Screen {...props} />;
    if (code.error !== undefined) return <Problem error={code.error} retry={code.reload} />;
    return waiting;
  }
  return Later;
}

// The dialog that copies rules to other links: which rules, to which links, and what changes there.
import { useState } from 'preact/hooks';
import { api, type ApiError, type Schema } from '../../api/client';
import { listed, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Choice } from '../../ui/choice';
import { Tick } from '../../ui/field';
import { Picker } from '../../ui/picker';
import { explain, Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Sheet } from '../../ui/sheet';
import { complain, notify } from '../../ui/toast';
import { changeAll, type Change } from '../link/whole';
import { bare, nameOf } from '../links/changes';
import { asTheyAre, copyTo, type Mode } from './copied';

type Rule = Schema<'RoutingRule'>;

/** A link that gets rules, with the rules that it has. */
interface Target {
  link: Schema<'URL'>;
  rules: Rule[];
}

async function read(id: string): Promise<Target> {
  const path = { id };
  const [link, { rules }] = await Promise.all([
    api.get('/api/urls/{id}', { path }),
    api.get('/api/urls/{id}/routing-rules', { path }),
  ]);
  return { link, rules };
}

/** Gives links back the rules that they had. */
async function giveBack(targets: readonly Target[]): Promise<void> {
  const now = await Promise.all(targets.map(({ link }) => api.get('/api/urls/{id}', { path: { id: link.id } })));
  const changes = targets.map(({ rules }, at): Change[] => {
    const link = now[at];
    return link ? [{ link, item: { rules: asTheyAre(rules) } }] : [];
  });
  const failed = (await changeAll(changes.flat())).find(Boolean);
  if (failed) throw failed;
  notify(t('copies.undone'));
}

/** What changes at a link, in words. */
function Preview({
  target,
  copies,
  mode,
  error,
}: {
  target: Target;
  copies: Rule[];
  mode: Mode;
  error: ApiError | undefined;
}) {
  const { added, replaced, removed } = copyTo(target.rules, copies, mode);
  const lines = [
    added.length > 0 && t('copies.adds', { names: listed('AND', added) }),
    replaced.length > 0 && t('copies.replaces', { names: listed('AND', replaced) }),
    removed.length > 0 && t('copies.removes', { names: listed('AND', removed) }),
  ].filter((one) => one !== false);
  return (
    <>
      <p dir="auto">{lines.length > 0 ? lines.join(' ') : t('copies.same')}</p>
      {target.rules.length > 0 && !target.link.isSmartRouting && <p class="hint">{t('rules.disabled')}</p>}
      {error && (
        <p class="bad" role="alert">
          {error.stale ? t('copies.stale') : explain(error)}
        </p>
      )}
    </>
  );
}

interface CopyProps {
  /** The link whose rules are copied, and its rules in their order. */
  from: string;
  rules: readonly Rule[];
  onClose: () => void;
}

/** The links that were chosen, and those that can be. */
function useTargets(from: string) {
  const [targets, setTargets] = useState<Target[]>([]);
  const find = async (search: string, signal: AbortSignal) => {
    const { data } = await api.get('/api/urls', { query: { search, pageSize: 20 }, signal });
    return data
      .filter(({ id }) => id !== from && !targets.some((one) => one.link.id === id))
      .map((one) => [one.id, `${nameOf(one)} · ${bare(one.shortUrl)}`] as const);
  };
  const add = (id: string) => void read(id).then((one) => setTargets((list) => [...list, one]), complain);
  // Those that somebody else has changed are shown as they are now, so that a second attempt can succeed.
  const renew = (ids: readonly string[]) =>
    Promise.all(ids.map(read)).then((now) =>
      setTargets((list) => list.map((one) => now.find(({ link }) => link.id === one.link.id) ?? one)),
    );
  const drop = (id: string) => setTargets((list) => list.filter(({ link }) => link.id !== id));
  return { targets, find, add, drop, renew };
}

/** The state of the dialog. `trial` has what the server would refuse, and `failed` what it has refused. */
function useCopying({ from, rules, onClose }: CopyProps) {
  const [left, setLeft] = useState<readonly string[]>([]); // rules that are not copied
  const [mode, setMode] = useState<Mode>('add');
  const [failed, setFailed] = useState<ReadonlyMap<string, ApiError>>(new Map());
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const chosen = useTargets(from);
  const { targets, drop, renew } = chosen;
  const copies = rules.filter((one) => !left.includes(one.id));
  const changes = targets.map(({ link, rules: theirs }): Change => ({
    link,
    item: { rules: copyTo(theirs, copies, mode).rules },
  }));
  const ready = targets.length > 0 && copies.length > 0;
  const trial = useResource(JSON.stringify(changes.map(({ link, item }) => [link.id, item])), async () =>
    ready ? await changeAll(changes, true) : [],
  );
  const copy = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const errors = await changeAll(changes);
      const done = targets.filter((_, at) => !errors[at]);
      const wrong = targets.flatMap(({ link }, at) => (errors[at] ? [[link.id, errors[at]] as const] : []));
      if (done.length > 0) notify(t('copies.done', { n: done.length }), () => void giveBack(done).catch(complain));
      done.forEach(({ link }) => drop(link.id));
      setFailed(new Map(wrong));
      if (wrong.length === 0) onClose();
      else await renew(wrong.map(([id]) => id));
    } catch (reason) {
      setError(reason);
    }
    setBusy(false);
  };
  const tick = (id: string, on: boolean) => setLeft(on ? left.filter((one) => one !== id) : [...left, id]);
  return {
    ...chosen,
    left,
    tick,
    mode,
    setMode,
    failed,
    error: error ?? trial.error,
    busy,
    copies,
    ready,
    trial,
    copy,
  };
}

/** The links that were chosen, and what changes at each. */
function Previews({ of }: { of: ReturnType<typeof useCopying> }) {
  const { targets, copies, mode, failed, trial, drop } = of;
  return (
    <ul class="copies" aria-label={t('copies.preview')}>
      {targets.map((one, at) => (
        <li key={one.link.id}>
          <div>
            <b dir="auto">{nameOf(one.link)}</b> <bdi class="hint">{bare(one.link.shortUrl)}</bdi>
            <Preview target={one} copies={copies} mode={mode} error={failed.get(one.link.id) ?? trial.data?.[at]} />
          </div>
          <IconButton
            icon="close"
            label={t('chips.remove', { value: nameOf(one.link) })}
            onClick={() => drop(one.link.id)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The dialog. */
export function CopyRules(props: CopyProps) {
  const { rules, onClose } = props;
  const copying = useCopying(props);
  const { left, tick, mode, setMode, failed, error, ready, find, add, busy, targets, copy } = copying;
  return (
    <Sheet title={t('copies.title')} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void copy();
        }}
      >
        <fieldset class="copied">
          <legend class="label">{t('copies.rules')}</legend>
          {rules.map((one) => (
            <Tick
              key={one.id}
              label={<bdi>{one.name}</bdi>}
              checked={!left.includes(one.id)}
              onValue={(on) => tick(one.id, on)}
            />
          ))}
        </fieldset>
        <Picker label={t('copies.to')} name="to" shown="" placeholder={t('copies.find')} find={find} onPick={add} />
        <Choice<Mode>
          label={t('copies.mode')}
          name="mode"
          value={mode}
          options={[
            ['add', t('copies.add'), t('copies.addHint')],
            ['replace', t('copies.replace'), t('copies.replaceHint')],
          ]}
          onValue={setMode}
        />
        {failed.size > 0 && (
          <p class="notice bad" role="alert">
            {t('copies.failed', { n: failed.size })}
          </p>
        )}
        {ready && <Previews of={copying} />}
        {error !== undefined && <Problem error={error} />}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" busy={busy} aria-disabled={!ready}>
            {t('copies.action', { n: targets.length })}
          </Button>
        </footer>
      </form>
    </Sheet>
  );
}

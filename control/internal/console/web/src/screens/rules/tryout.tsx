import { useEffect, useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { find, locate, parse } from '../../rules/model';
import { countries } from '../../rules/places';
import { seen } from '../../rules/sentence';
import { isType, typeKey } from '../../rules/types';
import { percent, t } from '../../text';
import { Button } from '../../ui/button';
import { DateTime } from '../../ui/datetime';
import { Input, Select } from '../../ui/field';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { local } from '../../ui/time';
import { bare } from '../links/changes';
import { TraceView } from './trace';
import { agentNames, agentOf, nameOfAgent, somebody, visitOf, type AgentName, type Visitor } from './visitor';

type Draft = Schema<'LinkDraft'>;
type DraftRule = Schema<'DraftRule'>;

/** The value, after it has not changed for a moment. */
function useSettled<T>(value: T, pause = 600): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return settled;
}

function VisitorForm({ visitor, set }: { visitor: Visitor; set: (values: Partial<Visitor>) => void }) {
  const name = nameOfAgent(visitor.userAgent);
  // A click has these instead of a User-Agent.
  const device = visitor.device && seen('device', visitor.device);
  const known = [device, visitor.os, visitor.browser].filter(Boolean);
  return (
    <div class="visitor">
      <Select<AgentName | ''>
        label={t('try.agent')}
        name="agent"
        value={name}
        options={[
          ...(name === '' ? [['', known.join(' · ') || visitor.userAgent] as const] : []),
          ...agentNames.map((one) => [one, t(`try.agent.${one}`)] as const),
        ]}
        onValue={(one) => one !== '' && set({ userAgent: agentOf(one), device: '', os: '', browser: '' })}
      />
      <Select
        label={t('rule.country')}
        name="country"
        value={visitor.country ?? ''}
        options={[['', t('try.unknown')], ...countries()]}
        onValue={(country) => set({ country })}
      />
      <Input
        label={t('rule.region')}
        name="region"
        value={visitor.region ?? ''}
        onValue={(region) => set({ region })}
      />
      <Input label={t('rule.city')} name="city" value={visitor.city ?? ''} onValue={(city) => set({ city })} />
      <Input
        label={t('rule.language')}
        name="language"
        value={visitor.language ?? ''}
        onValue={(language) => set({ language })}
      />
      <Input
        label={t('rule.referer')}
        name="referer"
        inputmode="url"
        value={visitor.referer ?? ''}
        onValue={(referer) => set({ referer })}
      />
      <Input
        label={t('try.query')}
        name="query"
        value={visitor.query ?? ''}
        spellcheck={false}
        onValue={(query) => set({ query })}
      />
      <Input
        label={t('try.path')}
        name="path"
        value={visitor.path ?? ''}
        spellcheck={false}
        onValue={(path) => set({ path })}
      />
      <Input label={t('rule.ip')} name="ip" value={visitor.ip ?? ''} spellcheck={false} onValue={(ip) => set({ ip })} />
      <DateTime
        label={t('try.time')}
        name="time"
        value={visitor.time.endsWith('Z') ? local(visitor.time) : visitor.time}
        onValue={(time) => set({ time })}
      />
      <label class="tick">
        <input
          type="checkbox"
          name="returning"
          checked={visitor.returning}
          onChange={(event) => set({ returning: event.currentTarget.checked })}
        />
        {t('try.returning')}
      </label>
    </div>
  );
}

function Result({ explanation }: { explanation: Schema<'Explanation'> }) {
  const { destination, outcome, rules } = explanation;
  const winner = rules.find((rule) => rule.wins);
  const why = winner ? t('try.byRule', { name: winner.name }) : t(`try.by.${destination.chosenBy as 'DEFAULT'}`);
  return (
    <div class="result" role="status">
      <p class="sentence">
        {outcome === 'REDIRECT'
          ? t('try.goes', { destination: bare(destination.location), why })
          : t(`try.outcome.${outcome}`)}
      </p>
      <ol>
        {rules.map((rule) => (
          <li key={rule.ruleId ?? `new ${rule.index ?? ''}`}>
            <details open={rule.wins || rules.length === 1}>
              <summary>
                <b dir="auto">{rule.name}</b>{' '}
                {rule.wins
                  ? t('try.wins')
                  : !rule.matched
                    ? t('try.fails')
                    : winner
                      ? t('try.late')
                      : `· ${t('rules.disabled')}`}
              </summary>
              <TraceView trace={rule.trace} />
            </details>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The part of a rule that a problem of its draft is about, in words. */
function partOf(rule: DraftRule, field: string): string {
  if (field === 'targetUrl') return t('create.destination');
  if (!field.startsWith('conditions')) return t('labels.name');
  const root = parse(rule.conditions);
  const part = find(root, locate(root, field).id);
  return part?.kind === 'condition' && isType(part.type) ? t(typeKey(part.type)) : t('rules.conditions');
}

/** Why nothing can be tried. The API names what is wrong in a draft by paths such as draft.rules.0.targetUrl. */
function Unready({ error, draft }: { error: unknown; draft: Draft | undefined }) {
  const problems = (error instanceof ApiError ? error.fields : []).flatMap(({ field, message }) => {
    const [, at, rest] = /^draft\.rules\.(\d+)\.(.*)/.exec(field) ?? [];
    const rule = draft?.rules?.[Number(at)];
    return rule && rest ? [`${rule.name} · ${partOf(rule, rest)}: ${message}`] : [];
  });
  if (problems.length === 0) return <Problem error={error} />;
  return (
    <div class="notice warn" role="status">
      <div>
        <p>{t('try.unready')}</p>
        <ul>
          {problems.map((one) => (
            <li key={one} dir="auto">
              {one}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

type Decision = Schema<'ReplayDecision'>;

const said = (d: Decision): string => (d.url ? bare(d.url) : t(`try.outcome.${d.outcome as 'GONE'}`));

/** How the last visitors would have been sent, before and after the change. */
function Replay({ link, draft, mine }: { link: string; draft: Draft; mine: number }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const [replay, setReplay] = useState<Schema<'Replay'> | undefined>(undefined);
  useEffect(() => setReplay(undefined), [draft]);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      setReplay(await api.post('/api/urls/{id}/explain/replay', { path: { id: link }, body: { draft, limit: 1000 } }));
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  const sent = (replay?.flows ?? [])
    .filter(({ to }) => to.chosenBy === 'RULE' && to.index === mine)
    .reduce((sum, flow) => sum + flow.visitors, 0);
  const moved = replay?.flows.filter((flow) => said(flow.from) !== said(flow.to)) ?? [];
  return (
    <section class="replay">
      <Button busy={busy} onClick={() => void run()}>
        {t('replay.run')}
      </Button>
      {error !== undefined && <Unready error={error} draft={draft} />}
      {replay && (
        <div role="status">
          <p>
            {replay.visitors === 0
              ? t('replay.none')
              : t('replay.changed', { n: replay.changed, all: replay.visitors })}
          </p>
          {replay.visitors > 0 && (
            <p>{t('replay.sent', { n: sent, part: percent(Math.round((sent / replay.visitors) * 1000) / 10) })}</p>
          )}
          {replay.unknown > 0 && <p class="hint">{t('replay.unknown', { n: replay.unknown })}</p>}
        </div>
      )}
      {moved.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{t('date.now')}</th>
              <th scope="col">{t('replay.after')}</th>
              <th scope="col">{t('replay.visitors')}</th>
            </tr>
          </thead>
          <tbody>
            {moved.map((flow, at) => (
              <tr key={at}>
                <td>{said(flow.from)}</td>
                <td>{said(flow.to)}</td>
                <td class="figure">{flow.visitors}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Where a visitor would go, and why. */
export function Explained({ link, visitor, draft, saved }: Tried & { visitor: Visitor }) {
  const result = useResource(JSON.stringify([link, draft, saved, visitor]), (signal) =>
    api.post('/api/urls/{id}/explain', {
      path: { id: link },
      body: { ...visitOf(visitor), ...(draft && { draft }) },
      signal,
    }),
  );
  if (result.error !== undefined) return <Unready error={result.error} draft={draft} />;
  return result.data ? <Result explanation={result.data} /> : null;
}

interface Tried {
  link: string;
  /** The rules before they are saved; without it, the saved ones are tried. */
  draft?: Draft | undefined;
  /** The place of the rule that is edited among those of the draft. */
  mine?: number;
  /** What is saved. When it changes, the visitor is tried again. */
  saved?: unknown;
}

/** The open simulator. */
function Simulator({ link, draft, mine = -1, saved }: Tried) {
  const [visitor, setVisitor] = useState(somebody);
  const settled = useSettled(draft);
  return (
    <>
      <p class="hint">{t('try.hint')}</p>
      <VisitorForm visitor={visitor} set={(values) => setVisitor((last) => ({ ...last, ...values }))} />
      <Explained link={link} visitor={useSettled(visitor)} draft={settled} saved={saved} />
      {settled && <Replay link={link} draft={settled} mine={mine} />}
    </>
  );
}

/** The simulator: where a visitor would go, and why. Nothing is stored. It asks only while it is open. */
export function TryOut(props: Tried) {
  const [open, setOpen] = useState(false);
  return (
    <details class="tryout" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.draft ? t('try.title') : t('try.saved')}</summary>
      {open && <Simulator {...props} />}
    </details>
  );
}

/** The simulator filled with a visitor: where that one would go and why, and below what can be changed to compare. */
export function TryVisitor({ link, visitor: given }: { link: string; visitor: Visitor }) {
  const [visitor, setVisitor] = useState(given);
  return (
    <>
      <Explained link={link} visitor={useSettled(visitor)} />
      <details class="tryout">
        <summary>{t('try.change')}</summary>
        <VisitorForm visitor={visitor} set={(values) => setVisitor((last) => ({ ...last, ...values }))} />
      </details>
    </>
  );
}

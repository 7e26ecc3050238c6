// The history of a link: who changed what and when, with a way back.
import './history.css';
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { parse } from '../../rules/model';
import { describe } from '../../rules/sentence';
import { may } from '../../session';
import { day, moment, number, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Head, Loading, Waiting } from '../../ui/page';
import { pageOf, Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { LinkTabs } from '../link/tabs';
import { bare, nameOf } from '../links/changes';
import { forget } from '../links/list';
import { actionOf, fieldOf, hidden, partOf, personOf } from './words';

type Entry = Schema<'URLChange'>;
type Changes = Entry['changes'];

const pageSize = 20;

function valueOf(name: string, value: unknown): string {
  if (name === 'conditions' && value) return describe(parse(value));
  if (value === null || value === undefined || value === '') return '–';
  if (name === 'clickBaseline') {
    const { count, until, source } = value as Schema<'ClickBaseline'>;
    return `${number(count)} (${source}, ${day(until)})`;
  }
  if (typeof value === 'boolean') return t(value ? 'try.yes' : 'try.no');
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? moment(value) : value;
}

function Values({ label, of: changes }: { label: string; of: Changes }) {
  const all = Object.entries(changes).filter(([name]) => !hidden.has(name));
  if (all.length === 0) return null;
  return (
    <table aria-label={label}>
      <thead class="offscreen">
        <tr>
          <th scope="col">{t('edit.field')}</th>
          <th scope="col">{t('history.before')}</th>
          <th scope="col">{t('history.after')}</th>
        </tr>
      </thead>
      <tbody>
        {all.map(([name, change]) => (
          <tr key={name}>
            <th scope="row">{fieldOf(name)}</th>
            <td dir="auto">
              {change.old === null || change.old === '' ? '–' : <del>{valueOf(name, change.old)}</del>}
            </td>
            <td dir="auto">
              <ins>{valueOf(name, change.new)}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The changes of a rule or a variant. */
function Part({ kind, part }: { kind: 'rule' | 'variant'; part: Entry['variants'][number] }) {
  const title = partOf(kind, part);
  return (
    <>
      <h3 dir="auto">{title}</h3>
      <Values label={title} of={part.changes} />
    </>
  );
}

function Version({ of: entry, present, onBack }: { of: Entry; present: boolean; onBack: () => void }) {
  const at = entry.at;
  const when = at ? moment(at) : t('history.unknown');
  return (
    <li>
      <header>
        <div>
          <h2>
            {actionOf(entry.action)} {present && <span class="badge good">{t('history.now')}</span>}
          </h2>
          <p class="hint">
            {when} · <bdi>{personOf(entry)}</bdi>
          </p>
        </div>
        {!present && may('EDITOR') && (
          <Button icon="history" aria-label={`${t('history.restore')} · ${when}`} onClick={onBack}>
            {t('history.restore')}
          </Button>
        )}
      </header>
      <Values label={t('history.fields')} of={entry.changes} />
      {entry.routingRules.map((part) => (
        <Part key={part.id} kind="rule" part={part} />
      ))}
      {entry.variants.map((part) => (
        <Part key={part.id} kind="variant" part={part} />
      ))}
    </li>
  );
}

/** What differs between a version and the present one: the fields, rules and variants that later changes have touched. */
function Reach({ id, to: chosen }: { id: string; to: Entry }) {
  const later = useResource(`later ${id} ${chosen.revision}`, async (signal) => {
    const found: Entry[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = { page, pageSize: 100 };
      const list = await api.get('/api/urls/{id}/history', { path: { id }, query, signal });
      found.push(...list.data);
      pages = found.some((one) => one.revision === chosen.revision) ? 0 : list.totalPages;
    }
    return found.filter((one) => one.revision > chosen.revision);
  });
  const names = new Set(
    later.data?.flatMap((one) => [
      ...Object.keys(one.changes)
        .filter((name) => !hidden.has(name))
        .map(fieldOf),
      ...one.routingRules.map((part) => t('history.part.ruleChanged', { name: part.name })),
      ...one.variants.map((part) => t('history.part.variantChanged', { name: part.name })),
    ]),
  );
  if (names.size === 0) return null;
  return (
    <>
      <p>{t('history.reach')}</p>
      <ul class="reach">
        {[...names].map((name) => (
          <li key={name} dir="auto">
            {name}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The screen of a link's history. */
export function History({ id }: { id: string }) {
  const page = pageOf();
  const link = useResource(`link ${id}`, (signal) => api.get('/api/urls/{id}', { path: { id }, signal }));
  const list = useResource(`history ${id} ${page}`, (signal) =>
    api.get('/api/urls/{id}/history', { path: { id }, query: { page, pageSize }, signal }),
  );
  const [chosen, choose] = useState<Entry>();
  if (link.error !== undefined || !link.data) return <Waiting of={link} />;
  const of = link.data;
  const back = async (revision: number) => {
    try {
      await api.post('/api/urls/{id}/rollback', { path: { id }, body: { revision }, ifMatch: of });
    } finally {
      // Also after a refusal, because somebody else has changed the link then.
      forget();
      link.reload();
      list.reload();
    }
    notify(t('history.done'));
  };
  const at = chosen?.at;
  return (
    <>
      <Head
        above={['/links', t('links.title')]}
        title={nameOf(of)}
        note={
          <bdi class="mono" dir="ltr">
            {bare(of.shortUrl)}
          </bdi>
        }
      />
      <LinkTabs id={id} here="/history" />
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!list.data && list.error === undefined && <Loading />}
      {list.data && (
        <ol class="versions">
          {list.data.data.map((entry, index) => (
            <Version key={entry.revision} of={entry} present={page === 1 && index === 0} onBack={() => choose(entry)} />
          ))}
        </ol>
      )}
      {list.data && <Pager page={page} totalPages={list.data.totalPages} />}
      {chosen && (
        <Confirm
          title={t('history.ask')}
          action={t('history.restore')}
          onConfirm={() => back(chosen.revision)}
          onClose={() => choose(undefined)}
        >
          <p>{t('history.askHint', { time: at ? moment(at) : t('history.unknown') })}</p>
          <Reach id={id} to={chosen} />
        </Confirm>
      )}
    </>
  );
}

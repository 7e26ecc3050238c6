// One bundle: its figures, and its links in their order.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go, to } from '../../route';
import { may } from '../../session';
import { number, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Input, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Icon } from '../../ui/icon';
import { Empty, Head, Section, Waiting } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { complain, notify } from '../../ui/toast';
import { Chart } from '../analytics/chart';
import { namesOf } from '../analytics/points';
import { ownZone } from '../analytics/selection';
import { bare } from '../links/changes';
import { archive, BundleForm, type Bundle } from './bundles';
import { Dot } from './dot';
import '../analytics/charts.css';
import '../analytics/analytics.css';

type Member = Schema<'BundleURL'>;

const nameOf = (link: { title: string | null; originalUrl: string }): string => link.title || bare(link.originalUrl);

/** Finds links and puts the chosen ones into the bundle. */
function AddLinks({ of: bundle, onClose, onAdded }: { of: Bundle; onClose: () => void; onAdded: () => void }) {
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const found = useResource(words, (signal) =>
    api.get('/api/urls', { query: { search: words.trim(), pageSize: 20 }, signal }),
  );
  const saving = useSaving([]);
  const inside = new Set(bundle.urls.map((one) => one.id));
  const offered = (found.data?.data ?? []).filter((one) => !inside.has(one.id) && !chosen.has(one.id));
  const rows = [...chosen, ...offered.map((one) => [one.id, `${nameOf(one)} · ${bare(one.shortUrl)}`] as const)];
  const save = async () => {
    if (chosen.size > 0) {
      await api.post('/api/bundles/{id}/urls/batch', { path: { id: bundle.id }, body: { urlIds: [...chosen.keys()] } });
    }
    onAdded();
  };
  return (
    <FormDialog title={t('bundles.add')} action={t('action.add')} saving={saving} save={save} onClose={onClose}>
      <Input label={t('labels.search')} name="search" autocomplete="off" value={words} onValue={setWords} first />
      {found.error !== undefined && <Problem error={found.error} retry={found.reload} />}
      <div class="ticks">
        {rows.map(([id, name]) => (
          <Tick
            key={id}
            label={<bdi>{name}</bdi>}
            checked={chosen.has(id)}
            onValue={(on) => {
              const next = new Map(chosen);
              if (on) next.set(id, name);
              else next.delete(id);
              setChosen(next);
            }}
          />
        ))}
      </div>
      {found.data && rows.length === 0 && <p class="hint">{t('labels.nothing')}</p>}
    </FormDialog>
  );
}

function Links({ of: bundle, onChanged }: { of: Bundle; onChanged: () => void }) {
  const path = (link: Member) => ({ id: bundle.id, urlId: link.id });
  const order = (link: Member, at: number, ifMatch?: Bundle) =>
    api.patch('/api/bundles/{id}/urls/{urlId}/order', {
      path: path(link),
      body: { order: at },
      ...(ifMatch && { ifMatch }),
    });
  // If somebody has changed the order meanwhile, the screen shows it, and the link stays where it is.
  const move = (link: Member, at: number) => void order(link, at, bundle).catch(complain).then(onChanged);
  const putBack = async (link: Member) => {
    await api.post('/api/bundles/{id}/urls/batch', { path: { id: bundle.id }, body: { urlIds: [link.id] } });
    await order(link, link.order);
    onChanged();
  };
  const takeOut = async (link: Member) => {
    await api.delete('/api/bundles/{id}/urls/{urlId}', { path: path(link) });
    notify(t('bundles.removed', { name: nameOf(link) }), () => void putBack(link).catch(complain));
    onChanged();
  };
  const last = bundle.urls.length - 1;
  return (
    <Table
      label={t('links.title')}
      rows={bundle.urls.map((link, at) => ({ link, at }))}
      keyOf={({ link }) => link.id}
      columns={[
        {
          name: t('links.title'),
          cell: ({ link }) => (
            <>
              <a href={to(`/links/${link.id}`)} dir="auto">
                {nameOf(link)}
              </a>{' '}
              {link.status !== 'ACTIVE' && <span class={`badge ${link.status}`}>{t(`status.${link.status}`)}</span>}
              <p class="hint mono" dir="ltr">
                {bare(link.shortUrl)}
              </p>
            </>
          ),
        },
        { name: t('report.metric.clicks'), figure: true, cell: ({ link }) => number(link.clickCount) },
        ...(may('EDITOR')
          ? [
              {
                name: t('test.actions'),
                cell: ({ link, at }: { link: Member; at: number }) => (
                  <>
                    <IconButton
                      icon="up"
                      label={t('bundles.up', { name: nameOf(link) })}
                      disabled={at === 0}
                      onClick={() => move(link, at - 1)}
                    />
                    <IconButton
                      icon="down"
                      label={t('bundles.down', { name: nameOf(link) })}
                      disabled={at === last}
                      onClick={() => move(link, at + 1)}
                    />
                    <IconButton
                      icon="close"
                      label={t('bundles.takeOut', { name: nameOf(link) })}
                      onClick={() => void takeOut(link).catch(complain)}
                    />
                  </>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

/** The clicks of the last days. All of the chart is in the table below it. */
function Week({ days }: { days: readonly Schema<'BundleDayStat'>[] }) {
  const names = namesOf(days, 'day', ownZone());
  const n = days.reduce((sum, one) => sum + one.clicks, 0);
  if (n === 0) return null;
  const name = t('report.metric.clicks');
  return (
    <div class="timeline">
      <Chart
        label={t('report.chartLabel', { what: name, n, points: days.length })}
        series={[{ name, kind: 'main', values: days.map((one) => one.clicks) }]}
        names={names}
      />
      <details>
        <summary>{t('report.table')}</summary>
        <Table
          label={t('bundles.week')}
          rows={days.map((one, at) => ({ ...one, long: names[at]?.long }))}
          keyOf={(one) => one.date}
          columns={[
            { name: t('report.when'), cell: (one) => one.long },
            { name, figure: true, cell: (one) => number(one.clicks) },
          ]}
        />
      </details>
    </div>
  );
}

interface FiguresProps {
  of: Schema<'BundleStats'> | { error: unknown };
  retry: () => void;
}

function Figures({ of, retry }: FiguresProps) {
  if ('error' in of) return <Problem error={of.error} retry={retry} />;
  const { urlCount, totalClicks, clickTrend } = of;
  const facts = [
    [t('links.title'), urlCount],
    [t('report.metric.clicks'), totalClicks],
    [t('bundles.week'), clickTrend.reduce((sum, one) => sum + one.clicks, 0)],
  ] as const;
  return (
    <>
      <dl class="factlist">
        {facts.map(([name, n]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{number(n)}</dd>
          </div>
        ))}
      </dl>
      <Week days={clickTrend} />
    </>
  );
}

function About({ bundle: { description, color } }: { bundle: Schema<'Bundle'> }) {
  if (!description) return null;
  return (
    <p class="hint lead named">
      <Dot color={color} />
      <bdi>{description}</bdi>
    </p>
  );
}

/** Links to the report and to the list of a bundle's links. */
function Elsewhere({ id }: { id: string }) {
  return (
    <p class="actions">
      <a class="button" href={to(`/analytics?${new URLSearchParams({ bundleId: id }).toString()}`)}>
        <Icon name="analytics" />
        {t('labels.report')}
      </a>
      <a class="button" href={to(`/links?${new URLSearchParams({ bundle: id }).toString()}`)}>
        <Icon name="filter" />
        {t('bundles.asList')}
      </a>
    </p>
  );
}

type Doing = 'add' | 'edit' | 'delete';

/** The screen of a bundle. */
export function BundleScreen({ id }: { id: string }) {
  // Together, so that nothing moves when the figures arrive.
  const loaded = useResource(`bundle ${id}`, (signal) =>
    Promise.all([
      api.get('/api/bundles/{id}', { path: { id }, signal }),
      api
        .get('/api/bundles/{id}/stats', { path: { id }, query: { timezone: ownZone() }, signal })
        .catch((error: unknown) => ({ error })),
    ]),
  );
  const [doing, setDoing] = useState<Doing>();
  if (!loaded.data || loaded.error !== undefined) return <Waiting of={loaded} />;
  const [bundle, stats] = loaded.data;
  const stop = () => setDoing(undefined);
  const done = () => {
    stop();
    loaded.reload();
  };
  return (
    <>
      <Head
        title={bundle.name}
        above={['/bundles', t('nav.bundles')]}
        note={bundle.status === 'ARCHIVED' && <span class="badge">{t('bundles.isArchived')}</span>}
      >
        {may('EDITOR') && (
          <>
            <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => setDoing('add')}>
              {t('bundles.add')}
            </Button>
            <Button icon="edit" onClick={() => setDoing('edit')}>
              {t('action.edit')}
            </Button>
            <Button icon="bundle" onClick={() => void archive(bundle).then(loaded.reload, complain)}>
              {t(bundle.status === 'ARCHIVED' ? 'links.restore' : 'bundles.archive')}
            </Button>
            <Button icon="trash" onClick={() => setDoing('delete')}>
              {t('action.delete')}
            </Button>
          </>
        )}
      </Head>
      <About bundle={bundle} />
      <Section title={t('bundles.figures')}>
        <Figures of={stats} retry={loaded.reload} />
        <Elsewhere id={id} />
      </Section>
      <Section title={t('links.title')}>
        {bundle.urls.length === 0 ? (
          <Empty title={t('bundles.empty')} hint={t('bundles.emptyHint')} />
        ) : (
          <Links of={bundle} onChanged={loaded.reload} />
        )}
      </Section>
      {doing === 'add' && <AddLinks of={bundle} onClose={stop} onAdded={done} />}
      {doing === 'edit' && <BundleForm row={bundle} onClose={stop} onSaved={done} />}
      {doing === 'delete' && (
        <Deletion
          name={bundle.name}
          remove={() => api.delete('/api/bundles/{id}', { path: { id } })}
          onDeleted={() => go('/bundles')}
          onClose={stop}
        >
          {t('bundles.consequence', { n: bundle.urlCount })}
        </Deletion>
      )}
    </>
  );
}

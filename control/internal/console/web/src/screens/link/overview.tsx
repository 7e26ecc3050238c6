// What a link is doing: its figures, where visitors go, who changed it, and what is known about it.
import type { ComponentChildren } from 'preact';
import { api, type Answer, type Schema } from '../../api/client';
import { parse } from '../../rules/model';
import { sends } from '../../rules/sentence';
import { to } from '../../route';
import { day, distance, listed, number, percent, t } from '../../text';
import { Sparkline } from '../../ui/sparkline';
import { aboutOf, personOf } from '../history/words';
import { Code } from '../qr/code';
import { usual } from '../qr/style';
import { bare, creatorOf } from '../links/changes';
import { utm } from './fields';
import { Destination } from './head';
import { hasOwn, OwnCard, pictureOf } from './preview';

type Link = Schema<'URL'>;
type Days = readonly Schema<'DayFigures'>[];

const listedChanges = 3;
const shownGoals = 3;

/** What the page of a link shows beside the link itself. A part that fails stays away: the rest is still useful. */
export interface Facts {
  people: Days;
  bots: Days;
  /** The goals with most conversions, and the days with them. */
  goals: readonly { name: string; days: Days }[];
  rules: readonly Schema<'RoutingRule'>[];
  /** The percentage of the last 30 days' clicks that a rule decided; undefined without clicks or rules. */
  share: number | undefined;
  variants: readonly Schema<'Variant'>[];
  changes: readonly Schema<'URLChange'>[];
  bundles: readonly Schema<'ListedBundle'>[];
}

const sum = (days: Days, of: 'clicks' | 'conversions'): number => days.reduce((all, day) => all + (day[of] ?? 0), 0);

/** Reads the facts. What cannot be read is as if there were none. */
export async function factsOf(link: Link, signal: AbortSignal): Promise<Facts> {
  const path = { id: link.id };
  const or = <T,>(load: Promise<T>): Promise<T | undefined> => load.catch(() => undefined);
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  const report = (query: object) =>
    or(
      api.get('/api/analytics/urls/{id}', {
        path,
        query: { timeRange: 'last_30_days', limit: 1, timezone, ...query },
        signal,
      }),
    );
  const [all, undecided, rules, variants, changes, goals, found] = await Promise.all([
    report({ series: 'people,bots' }),
    link.isSmartRouting ? report({ ruleId: ['none'] }) : undefined,
    or(api.get('/api/urls/{id}/routing-rules', { path, signal })),
    or(api.get('/api/urls/{id}/variants', { path, signal })),
    or(api.get('/api/urls/{id}/history', { path, query: { pageSize: listedChanges }, signal })),
    link.trackConversions ? or(api.get('/api/urls/{id}/goals', { path, signal })) : undefined,
    or(api.get('/api/urls', { query: { search: link.slug, include: ['bundles'], pageSize: 100 }, signal })),
  ]);
  const best = listOf(goals)
    .toSorted((a, b) => b.conversions - a.conversions)
    .slice(0, shownGoals);
  return {
    people: all?.series?.people ?? all?.timeSeries ?? [],
    bots: all?.series?.bots ?? [],
    goals: await Promise.all(
      best.map(async ({ name }) => ({ name, days: (await report({ goal: name }))?.timeSeries ?? [] })),
    ),
    rules: rules?.rules ?? [],
    share:
      all && undecided && all.totalClicks > 0
        ? Math.round((1 - undecided.totalClicks / all.totalClicks) * 100)
        : undefined,
    variants: variants?.variants ?? [],
    changes: changes?.data ?? [],
    bundles: found?.bundles?.filter((one) => one.urlIds.includes(link.id)) ?? [],
  };
}

/** The goals. The document of the API allows a plain list, too. */
const listOf = (goals: Answer<'get', '/api/urls/{id}/goals'> | undefined): readonly Schema<'Goal'>[] =>
  Array.isArray(goals) ? (goals as Schema<'Goal'>[]) : (goals?.data ?? []);

function Figure({ n, text, values, at }: { n: number; text: string; values: readonly number[]; at: string }) {
  return (
    <li>
      <a href={to(at)}>
        <b>{number(n)}</b> <span>{text}</span>
        <Sparkline values={values} label={`${number(n)} ${text}`} />
      </a>
    </li>
  );
}

function Figures({ id, facts: { people, bots, goals } }: { id: string; facts: Facts }) {
  const [clicks, machines] = [sum(people, 'clicks'), sum(bots, 'clicks')];
  const at = `/links/${id}/analytics`;
  return (
    <ul class="monthly" aria-label={t('over.figures')}>
      <Figure n={clicks} text={t('over.people', { n: clicks })} values={people.map((one) => one.clicks)} at={at} />
      <Figure
        n={machines}
        text={t('over.bots', { n: machines })}
        values={bots.map((one) => one.clicks)}
        at={`${at}?audience=bots`}
      />
      {goals.map(({ name, days }) => (
        <Figure
          key={name}
          n={sum(days, 'conversions')}
          text={t('over.conversions', { n: sum(days, 'conversions'), goal: name })}
          values={days.map((one) => one.conversions ?? 0)}
          at={`${at}?metric=conversions&goal=${encodeURIComponent(name)}`}
        />
      ))}
    </ul>
  );
}

/** A part of the page, with the way to where it is changed. */
function Block({
  title,
  way,
  children,
}: {
  title: string;
  way?: readonly [string, string];
  children: ComponentChildren;
}) {
  return (
    <section class="block">
      <header>
        <h2>{title}</h2>
        {way && <a href={to(way[0])}>{way[1]}</a>}
      </header>
      {children}
    </section>
  );
}

function Rules({ link, facts: { rules, share } }: { link: Link; facts: Facts }) {
  const active = rules.filter((one) => one.isActive);
  const [only] = active;
  if (rules.length === 0 || !only)
    return (
      <p>{rules.length > 0 ? `${t('over.rules', { n: rules.length })}, ${t('over.rulesOff')}` : t('over.noRules')}</p>
    );
  const says =
    active.length === 1 ? sends(parse(only.conditions), bare(only.targetUrl)) : t('over.rules', { n: active.length });
  return (
    <p dir="auto">
      {says}
      {!link.isSmartRouting && `, ${t('over.rulesOff')}`}
      {link.isSmartRouting && share !== undefined && (
        <span class="hint"> · {t('over.share', { share: percent(share) })}</span>
      )}
    </p>
  );
}

function Test({ link, facts: { variants } }: { link: Link; facts: Facts }) {
  const active = variants.filter((one) => one.isActive && one.weight > 0);
  const all = active.reduce((total, one) => total + one.weight, 0);
  if (variants.length === 0) return <p>{t('over.noTest')}</p>;
  if (!link.isABTesting || active.length === 0) return <p>{t('over.testOff')}</p>;
  const parts = active.map((one) => `${one.name} ${percent(Math.round((one.weight / all) * 100))}`);
  return <p dir="auto">{t('over.testOn', { parts: listed('AND', parts) })}</p>;
}

function Routing({ link, facts }: { link: Link; facts: Facts }) {
  const of = `/links/${link.id}`;
  return (
    <Block title={t('over.routing')}>
      <div class="decides">
        <Rules link={link} facts={facts} />
        <a href={to(`${of}/rules`)}>{t('rules.short')}</a>
      </div>
      <div class="decides">
        <Test link={link} facts={facts} />
        <a href={to(`${of}/experiment`)}>{t('test.tab')}</a>
      </div>
    </Block>
  );
}

function Changes({ id, facts: { changes } }: { id: string; facts: Facts }) {
  return (
    <Block title={t('over.changes')} way={[`/links/${id}/history`, t('over.allChanges')]}>
      <ol class="latest">
        {changes.map((entry) => (
          <li key={entry.revision}>
            <span dir="auto">{listed('AND', aboutOf(entry))}</span>
            <span class="hint">
              <bdi>{personOf(entry)}</bdi>
              {entry.at && (
                <>
                  {' · '}
                  <time dateTime={entry.at}>{distance((Date.parse(entry.at) - Date.now()) / 1000)}</time>
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </Block>
  );
}

function About({ link, bundles }: { link: Link; bundles: Facts['bundles'] }) {
  const by = creatorOf(link);
  const campaign = utm.map((name) => link[name]).filter(Boolean);
  return (
    <Block title={t('over.about')}>
      <dl class="about">
        <dt>{t('create.destination')}</dt>
        <dd>
          <Destination address={link.originalUrl} />
        </dd>
        <dt>{t('create.tags')}</dt>
        <dd>
          {link.tags.length === 0
            ? t('over.none')
            : link.tags.map((tag) => (
                <a key={tag} class="tag" href={to(`/links?tag=${encodeURIComponent(tag)}`)} dir="auto">
                  {tag}
                </a>
              ))}
        </dd>
        {bundles.length > 0 && (
          <>
            <dt>{t('nav.bundles')}</dt>
            <dd>
              {bundles.map((one) => (
                <a key={one.id} href={to(`/bundles/${one.id}`)} dir="auto">
                  {one.name}
                </a>
              ))}
            </dd>
          </>
        )}
        <dt>{t('edit.campaign')}</dt>
        <dd>
          <bdi>{campaign.length > 0 ? campaign.join(' / ') : t('over.none')}</bdi>
        </dd>
        {link.notes && (
          <>
            <dt>{t('edit.notes')}</dt>
            <dd>
              <bdi>{link.notes}</bdi>
            </dd>
          </>
        )}
        <dt>{t('history.created')}</dt>
        <dd>
          {day(link.createdAt)} {by && <>· {t('links.by', { name: by })}</>}
        </dd>
      </dl>
    </Block>
  );
}

/** The parts of the page below its head. */
export function Overview({ link, facts }: { link: Link; facts: Facts | undefined }) {
  const short = bare(link.shortUrl);
  const image = pictureOf(link.ogImage);
  const card = {
    title: link.title ?? '',
    ogTitle: link.ogTitle ?? '',
    ogDescription: link.ogDescription ?? '',
    twitterCardType: link.twitterCardType ?? '',
  };
  return (
    <div class="overview">
      <div>
        {facts ? (
          <>
            <Figures id={link.id} facts={facts} />
            <Routing link={link} facts={facts} />
            <Changes id={link.id} facts={facts} />
          </>
        ) : (
          <div class="loading" aria-busy="true" />
        )}
        <About link={link} bundles={facts?.bundles ?? []} />
      </div>
      <div>
        <Block title={t('qr.title')} way={[`/links/${link.id}/qr`, t('over.design')]}>
          <div class="qrpart">
            <Code id={link.id} address={short} style={usual} />
          </div>
        </Block>
        <Block title={t('social.title')}>
          {hasOwn(card, image) ? (
            <OwnCard fields={card} short={short} image={image} />
          ) : (
            <p class="hint">{t('over.theirs')}</p>
          )}
        </Block>
      </div>
    </div>
  );
}

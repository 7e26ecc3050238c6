// The audit log: who did what to which object. A click on a person or an object filters by it.
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { user, workspace } from '../../session';
import { moment, number, second, t, type Key } from '../../text';
import { Button } from '../../ui/button';
import { DateTime } from '../../ui/datetime';
import { Select } from '../../ui/field';
import { Empty, Head, Loading } from '../../ui/page';
import { pageOf, Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { isField, names } from '../imports/fields';
import './audit.css';
import { changesOf, type Change } from './values';

type Entry = Schema<'AuditLog'>;

const pageSize = 50;

const types = [
  'url',
  'tag',
  'bundle',
  'utm_template',
  'view',
  'shared_report',
  'segment',
  'annotation',
  'mail_report',
  'import',
  'domain',
  'api_key',
  'webhook',
  'alert_channel',
  'alert_rule',
  'variant',
  'experiment',
  'routing_rule',
  'conversion_settings',
  'workspace',
  'member',
  'invitation',
  'user',
  'session',
  'passkey',
  'settings',
  'system_setting',
  'oidc_provider',
  'oidc_account',
  'visitor',
  'abuse_report',
] as const;

type Type = (typeof types)[number];

type Verb = Extract<Key, `audit.did.${string}`> extends `audit.did.${infer V}` ? V : never;

/** Last words of actions that mean the same as another one. */
const same: Record<string, Verb> = {
  REPORTED: 'CREATED',
  LINKED: 'ADDED',
  ISSUED: 'ADDED',
  UPLOADED: 'ADDED',
  CHANGED: 'UPDATED',
  RENAMED: 'UPDATED',
  SET: 'UPDATED',
  UNLINKED: 'REMOVED',
  ERASED: 'DELETED',
  CANCELLED: 'REVOKED',
  FAILED: 'FINISHED',
  DECIDED: 'FINISHED',
  CONFIRMED: 'ADDED',
  UNSUBSCRIBED: 'REMOVED',
};

/** What actions are about if it is a part of their object, by the beginning of their name. */
const parts = [
  ['PASSWORD', 'signin.password'],
  ['TWO_FACTOR', 'user.factor'],
  ['CERTIFICATE', 'domain.certificate'],
] as const;

const isType = (type: string): type is Type => types.some((one) => one === type);
const typeName = (type: string): string => (isType(type) ? t(`audit.type.${type}`) : type);

/** The screens of objects, by their type. */
const screens: Record<string, string> = {
  url: '/links',
  experiment: '/links',
  bundle: '/bundles',
  webhook: '/webhooks',
  domain: '/domains',
};

/** Filters by a value; its text is in the address, so that the filter has a name before its entries are loaded. */
const filterBy = (name: 'person' | 'object' | 'action', id: string, text: string) =>
  search({ [name]: id, [`${name}Name`]: text, page: '' });

function Person({ of: entry }: { of: Entry }) {
  const person = entry.user;
  return (
    <>
      {person ? (
        <button type="button" class="linkbutton" onClick={() => filterBy('person', person.id, person.email)}>
          {person.email}
        </button>
      ) : (
        t('audit.nobody')
      )}
      {entry.ipAddress && <p class="hint mono">{entry.ipAddress}</p>}
    </>
  );
}

function Thing({ of: entry }: { of: Entry }) {
  const name = entry.entityName ?? entry.entityId ?? '';
  const screen = entry.entityExists ? screens[entry.entityType] : undefined;
  const id = entry.entityId;
  return (
    <>
      <p class="hint">{typeName(entry.entityType)}</p>
      {id !== null && name !== '' && (
        <button type="button" class="linkbutton" onClick={() => filterBy('object', id, name)}>
          <bdi>{name}</bdi>
        </button>
      )}
      {screen && id !== null && (
        <p>
          <a href={to(`${screen}/${id}`)}>{t('share.open')}</a>
        </p>
      )}
    </>
  );
}

/** What was done to an object or a part of it, as a sentence. The verb is the last word of the action. */
export function deed({ action, entityType }: Pick<Entry, 'action' | 'entityType'>): string {
  const part = parts.find(([start]) => action.startsWith(start));
  const last = action.includes('LOGIN') ? 'LOGIN' : action.slice(action.lastIndexOf('_') + 1);
  const what = part ? t(part[1]) : typeName(entityType);
  return t(`audit.did.${same[last] ?? (last as Verb)}`, { what });
}

/** The name of a field of an object, in words if it is one of a link. */
const fieldName = (type: string, field: string) =>
  type === 'url' && isField(field) ? t(names[field]) : <bdi class="mono">{field}</bdi>;

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A value as people read it. */
const shown = (value: string): string => (time.test(value) ? moment(value) : value);

function Diff({ of: entry, changes }: { of: Entry; changes: readonly Change[] }) {
  return (
    <dl class="changes">
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{fieldName(entry.entityType, field)}</dt>
          <dd>
            {before !== '' && <del>{shown(before)}</del>} {after !== '' && <ins>{shown(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const few = 2; // changes that are shown at once

function Changes({ of: entry }: { of: Entry }) {
  const changes = changesOf(entry.oldValue, entry.newValue);
  const { success, count } = (entry.metadata ?? {}) as { success?: boolean; count?: number };
  const failed = success === false || entry.action.endsWith('FAILED');
  const words = deed(entry);
  return (
    <>
      <button
        type="button"
        class="linkbutton"
        title={entry.action}
        onClick={() => filterBy('action', entry.action, words)}
      >
        {words}
      </button>{' '}
      {count !== undefined && `× ${number(count)} `}
      {failed && <span class="badge bad">{t('audit.failed')}</span>}
      {changes.length > few ? (
        <details>
          <summary>{t('audit.changes', { n: changes.length })}</summary>
          <Diff of={entry} changes={changes} />
        </details>
      ) : (
        changes.length > 0 && <Diff of={entry} changes={changes} />
      )}
    </>
  );
}

function Filters({ everywhere }: { everywhere: boolean }) {
  const value = (name: string) => query.value.get(name) ?? '';
  const chip = (name: 'person' | 'object' | 'action') =>
    value(name) !== '' && (
      <Button icon="close" onClick={() => search({ [name]: '', [`${name}Name`]: '', page: '' })}>
        {t(`audit.${name}Is`, { name: value(`${name}Name`) || value(name) })}
      </Button>
    );
  return (
    <>
      <div class="filters auditfilters" role="search">
        {user.value?.role === 'ADMIN' && (
          <Select
            label={t('audit.where')}
            name="where"
            value={everywhere ? 'all' : ''}
            options={[
              ['', t('missing.own')],
              ['all', t('audit.everywhere')],
            ]}
            onValue={(where) => search({ where, page: '' })}
          />
        )}
        <Select
          label={t('audit.object')}
          name="type"
          value={value('type')}
          options={[['', t('links.any')], ...types.map((one) => [one, t(`audit.type.${one}`)] as const)]}
          onValue={(type) => search({ type, page: '' })}
        />
        <DateTime
          label={t('report.from')}
          name="from"
          kind="date"
          whole
          value={value('from')}
          onValue={(from) => search({ from, page: '' })}
        />
        <DateTime
          label={t('report.to')}
          name="to"
          kind="date"
          whole
          value={value('to')}
          onValue={(last) => search({ to: last, page: '' })}
        />
      </div>
      <p class="choices auditchips">
        {chip('person')}
        {chip('object')}
        {chip('action')}
      </p>
    </>
  );
}

/** The screen of the audit log. */
export function Audit() {
  const value = (name: string) => query.value.get(name) ?? '';
  const everywhere = user.value?.role === 'ADMIN' && value('where') === 'all';
  const page = pageOf();
  const asked = {
    page,
    pageSize,
    userId: value('person'),
    entityId: value('object'),
    entityType: value('type'),
    action: value('action') as Entry['action'],
    startDate: value('from'),
    endDate: value('to'),
  };
  const list = useResource(JSON.stringify([workspace.value?.id, everywhere, asked]), (signal) =>
    api.get('/api/audit-logs', { query: asked, signal, ...(everywhere ? { within: '' } : {}) }),
  );
  const found = list.data;
  return (
    <>
      <Head
        title={t('nav.audit')}
        note={found && (found.totalIsExact ? number(found.total) : t('audit.more', { n: found.total }))}
      />
      <p class="hint lead">{t('audit.hint')}</p>
      <Filters everywhere={everywhere} />
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!found && list.error === undefined && <Loading />}
      {found?.data.length === 0 && <Empty title={t('audit.none')} hint={t('audit.noneHint')} />}
      {found && found.data.length > 0 && (
        <div class="auditlog">
          <Table
            label={t('nav.audit')}
            rows={found.data}
            keyOf={(one) => one.id}
            columns={[
              { name: t('audit.time'), cell: (one) => second(one.createdAt) },
              { name: t('audit.person'), cell: (one) => <Person of={one} /> },
              { name: t('audit.action'), cell: (one) => <Changes of={one} /> },
              { name: t('audit.object'), cell: (one) => <Thing of={one} /> },
            ]}
          />
        </div>
      )}
      {found && <Pager page={page} totalPages={Math.ceil(found.total / pageSize)} />}
    </>
  );
}

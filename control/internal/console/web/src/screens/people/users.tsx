// Everybody who has an account, for administrators of the system.
import { api } from '../../api/client';
import { query, search, to } from '../../route';
import { user } from '../../session';
import { day, t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { Empty, Head, Loading } from '../../ui/page';
import { pageOf, Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { SearchField } from '../../ui/search';
import { Table } from '../../ui/table';
import { Create } from './create';
import { factorsOf, nameOfRole, Status, titleOf, type User } from './roles';

function Name({ of: one }: { of: User }) {
  return (
    <>
      <p>
        <a class="strong" href={to(`/users/${one.id}`)} dir="auto">
          {titleOf(one)}
        </a>{' '}
        {one.id === user.value?.id && <span class="badge">{t('members.you')}</span>}
      </p>
      {one.name && (
        <p class="hint">
          <bdi>{one.email}</bdi>
        </p>
      )}
    </>
  );
}

function Filters({ asked }: { asked: { search: string; role: string; status: string } }) {
  return (
    <div class="filters" role="search">
      <SearchField label={t('user.search')} hint={t('user.searchHint')} value={asked.search} />
      <Select
        label={t('members.role')}
        name="role"
        value={asked.role}
        options={[
          ['', t('links.any')],
          ['USER', nameOfRole('USER')],
          ['ADMIN', nameOfRole('ADMIN')],
        ]}
        onValue={(role) => search({ role, page: '' })}
      />
      <Select
        label={t('user.status')}
        name="status"
        value={asked.status}
        options={[
          ['', t('links.any')],
          ['ACTIVE', t('user.status.ACTIVE')],
          ['INACTIVE', t('user.status.INACTIVE')],
        ]}
        onValue={(status) => search({ status, page: '' })}
      />
    </div>
  );
}

const columns = () => [
  { name: t('user.user'), cell: (one: User) => <Name of={one} /> },
  { name: t('members.role'), cell: (one: User) => nameOfRole(one.role) },
  { name: t('user.status'), cell: (one: User) => <Status of={one} /> },
  { name: t('user.factor'), cell: factorsOf },
  { name: t('ws.since'), cell: (one: User) => day(one.createdAt) },
];

/** A value of a filter in the address; others than these are no filter. */
function filter<V extends string>(name: string, values: readonly V[]): V | '' {
  const value = query.value.get(name);
  return values.find((one) => one === value) ?? '';
}

/** The list of users. */
export function Users() {
  const page = pageOf();
  const asked = {
    search: query.value.get('search') ?? '',
    role: filter('role', ['USER', 'ADMIN']),
    status: filter('status', ['ACTIVE', 'INACTIVE']),
  };
  const list = useResource(JSON.stringify([page, asked]), (signal) => {
    const { role, status, ...rest } = asked;
    const set = { ...(role && { role }), ...(status && { status }) };
    return api.get('/api/users', { query: { ...rest, ...set, page, pageSize: 20 }, signal });
  });
  const { data } = list;
  return (
    <>
      <Head title={t('nav.users')} note={data && t('user.count', { n: data.total })}>
        <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
          {t('user.new')}
        </Button>
      </Head>
      <Filters asked={asked} />
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {data?.total === 0 && <Empty title={t('user.noMatch')} hint={t('hook.noMatchHint')} />}
      {data && data.total > 0 && (
        <Table label={t('nav.users')} rows={data.data} keyOf={(one) => one.id} columns={columns()} />
      )}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {query.value.has('new') && <Create onMade={list.reload} onClose={() => search({ new: '' })} />}
    </>
  );
}

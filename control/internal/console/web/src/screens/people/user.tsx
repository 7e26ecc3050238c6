// One user: the account, how the user signs in, and the changes that an administrator may make.
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { user as self } from '../../session';
import { moment, t } from '../../text';
import { Button } from '../../ui/button';
import { Head, Section, Waiting } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import type { ScreenProps } from '../props';
import { Question, type Asking } from './questions';
import { Remove } from './remove';
import { factorsOf, lastSignIn, nameOfRole, Status, titleOf, type User } from './roles';

type Account = Schema<'OIDCAccount'>;

const ask = (dialog: Asking | 'delete') => search({ dialog });

function Facts({ of: one }: { of: User }) {
  const last = useResource(one.id, (signal) => lastSignIn(one.id, signal));
  const log = `/audit?where=all&person=${one.id}&personName=${encodeURIComponent(one.email)}`;
  return (
    <dl class="facts-list">
      <div>
        <dt>{t('members.role')}</dt>
        <dd>{nameOfRole(one.role)}</dd>
      </div>
      <div>
        <dt>{t('user.status')}</dt>
        <dd>
          <Status of={one} />
        </dd>
      </div>
      <div>
        <dt>{t('user.factor')}</dt>
        <dd>{factorsOf(one)}</dd>
      </div>
      <div>
        <dt>{t('user.last')}</dt>
        <dd>
          {last.error !== undefined && <Problem error={last.error} retry={last.reload} />}
          <a href={to(log)}>{t('nav.audit')}</a> ·{' '}
          {last.data === undefined ? '…' : last.data === null ? t('keys.never') : moment(last.data)}
        </dd>
      </div>
      <div>
        <dt>{t('ws.since')}</dt>
        <dd>{moment(one.createdAt)}</dd>
      </div>
    </dl>
  );
}

/** What an administrator may change. The own account has a screen of its own, so that nobody locks themselves out here. */
function Actions({ of: one }: { of: User }) {
  const own = one.id === self.value?.id;
  const factor = one.twoFactorEnabled || one.hasPasskeys;
  return (
    <p class="choices">
      <Button icon="edit" onClick={() => ask('name')}>
        {t('user.rename')}
      </Button>
      {!own && (
        <>
          <Button icon="users" onClick={() => ask('role')}>
            {t('members.change')}
          </Button>
          <Button icon={one.isActive ? 'pause' : 'play'} onClick={() => ask('status')}>
            {t(one.isActive ? 'user.deactivate' : 'user.activate')}
          </Button>
          <Button icon="key" onClick={() => ask('password')}>
            {t('user.reset')}
          </Button>
          {factor && (
            <Button icon="lock" onClick={() => ask('factor')}>
              {t('user.factorOff')}
            </Button>
          )}
        </>
      )}
    </p>
  );
}

/** The accounts at sign-in providers that lead to this user. */
function Accounts({ of: one, list, onChanged }: { of: User; list: Account[]; onChanged: () => void }) {
  const unlink = query.value.get('unlink');
  const going = list.find(({ id }) => id === unlink);
  return (
    <Section title={t('user.accounts')} hint={t('user.accountsHint')}>
      {list.length === 0 ? (
        <p>{t('user.noAccounts')}</p>
      ) : (
        <Table
          label={t('user.accounts')}
          rows={list}
          keyOf={({ id }) => id}
          columns={[
            { name: t('user.provider'), cell: (account) => <bdi>{account.provider.name}</bdi> },
            { name: t('user.user'), cell: (account) => <bdi>{account.email ?? account.sub}</bdi> },
            { name: t('user.last'), cell: (account) => moment(account.lastLoginAt) },
            {
              name: t('test.actions'),
              cell: ({ id }) => <Button onClick={() => search({ unlink: id })}>{t('user.unlink')}</Button>,
            },
          ]}
        />
      )}
      {going && (
        <Question
          asking="unlink"
          user={one}
          account={going}
          onChanged={onChanged}
          onClose={() => search({ unlink: '' })}
        />
      )}
    </Section>
  );
}

const askings: readonly Asking[] = ['name', 'role', 'status', 'password', 'factor'];

/** The screen of a user. */
export function UserScreen({ id }: ScreenProps) {
  // Together, so that nothing moves when the second answer arrives.
  const found = useResource(id, (signal) =>
    Promise.all([
      api.get('/api/users/{id}', { path: { id }, signal }),
      api.get('/api/users/{id}/oidc-accounts', { path: { id }, signal }),
    ]),
  );
  if (!found.data) return <Waiting of={found} />;
  const [one, accounts] = found.data;
  const own = one.id === self.value?.id;
  const dialog = query.value.get('dialog');
  const asking = askings.find((name) => name === dialog && (name === 'name' || !own));
  const close = () => search({ dialog: '' });
  return (
    <>
      <Head
        title={titleOf(one)}
        above={['/users', t('nav.users')]}
        note={one.name ? <bdi dir="ltr">{one.email}</bdi> : undefined}
      />
      {found.error !== undefined && <Problem error={found.error} retry={found.reload} />}
      <Section title={t('nav.account')}>
        <Facts of={one} />
        {own && <p class="hint">{t('user.own')}</p>}
        <Actions of={one} />
      </Section>
      <Accounts of={one} list={accounts} onChanged={found.reload} />
      {!own && (
        <Section title={t('user.delete')} hint={t('user.deleteHint')}>
          <p>
            <Button kind="danger" icon="trash" onClick={() => ask('delete')}>
              {t('user.delete')}
            </Button>
          </p>
        </Section>
      )}
      {asking && <Question key={asking} asking={asking} user={one} onChanged={found.reload} onClose={close} />}
      {dialog === 'delete' && !own && <Remove user={one} onClose={close} />}
    </>
  );
}

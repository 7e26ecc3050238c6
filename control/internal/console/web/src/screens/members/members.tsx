// Who works in the workspace, with which role, and who is invited.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search } from '../../route';
import { may, workspace } from '../../session';
import { opened } from '../../shortcuts';
import { day, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { Invitations, useInvitations } from './invitations';
import { Invite } from './invite';
import { ChangeRole, isSelf, Remove, titleOf, type Member } from './questions';
import { nameOfRole } from './roles';

interface Asking {
  kind: 'role' | 'remove';
  member: Member;
}

function Name({ of: member }: { of: Member }) {
  return (
    <>
      <p>
        <bdi>{titleOf(member)}</bdi> {isSelf(member) && <span class="badge">{t('members.you')}</span>}
      </p>
      {member.name && (
        <p class="hint">
          <bdi>{member.email}</bdi>
        </p>
      )}
    </>
  );
}

function Actions({ of: member, onAsk }: { of: Member; onAsk: (asking: Asking) => void }) {
  const manages = may(member.role === 'OWNER' ? 'OWNER' : 'ADMIN'); // only owners manage owners
  const name = titleOf(member);
  return (
    <>
      {manages && (
        <IconButton
          icon="edit"
          label={t('members.changeOne', { name })}
          onClick={() => onAsk({ kind: 'role', member })}
        />
      )}
      {isSelf(member) ? (
        <IconButton icon="signOut" label={t('members.leave')} onClick={() => onAsk({ kind: 'remove', member })} />
      ) : (
        manages && (
          <IconButton
            icon="trash"
            label={t('members.removeOne', { name })}
            onClick={() => onAsk({ kind: 'remove', member })}
          />
        )
      )}
    </>
  );
}

/** A personal workspace has one member, so the screen offers a workspace for more. */
function Alone() {
  const create = () => {
    opened.value = 'workspace';
  };
  return (
    <>
      <Head title={t('nav.members')} />
      <Empty title={t('members.alone')} hint={t('members.aloneHint')}>
        <Button kind="primary" icon="plus" data-shortcut="c" onClick={create}>
          {t('ws.new')}
        </Button>
      </Empty>
    </>
  );
}

function Team({ id }: { id: string }) {
  const page = pageOf();
  const list = useResource(`${id} ${page}`, (signal) =>
    api.get('/api/workspaces/{id}/members', { path: { id }, query: { page, pageSize: 50 }, signal }),
  );
  const invitations = useInvitations();
  const [asking, setAsking] = useState<Asking>();
  const question = asking && {
    member: asking.member,
    onClose: () => setAsking(undefined),
    onChanged: list.reload,
  };
  return (
    <>
      <Head title={t('nav.members')} note={list.data && t('members.count', { n: list.data.total })}>
        {may('ADMIN') && (
          <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
            {t('invite.new')}
          </Button>
        )}
      </Head>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!list.data && list.error === undefined && <Loading />}
      {list.data && (
        <div class="section">
          <Table
            label={t('nav.members')}
            rows={list.data.data}
            keyOf={(one) => one.userId}
            columns={[
              { name: t('members.member'), cell: (one) => <Name of={one} /> },
              { name: t('members.role'), cell: (one) => nameOfRole(one.role) },
              { name: t('members.since'), cell: (one) => day(one.joinedAt) },
              { name: t('test.actions'), cell: (one) => <Actions of={one} onAsk={setAsking} /> },
            ]}
          />
          <Pager page={page} totalPages={list.data.totalPages} />
        </div>
      )}
      {may('ADMIN') && <Invitations list={invitations} />}
      {may('ADMIN') && query.value.has('new') && (
        <Invite onClose={() => search({ new: '' })} onMade={invitations.reload} />
      )}
      {question && (asking.kind === 'role' ? <ChangeRole {...question} /> : <Remove {...question} />)}
    </>
  );
}

/** The screen of the members of the workspace. */
export function Members() {
  const here = workspace.value;
  if (!here || here.isPersonal) return <Alone />;
  return <Team id={here.id} />;
}

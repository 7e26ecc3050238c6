// What can be done with a whole link: turn it off and on, duplicate it, delete it.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go } from '../../route';
import { may, workspace } from '../../session';
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Menu } from '../../ui/menu';
import { complain, notify } from '../../ui/toast';
import { Address } from './address';
import { bare, restore, setStatus, shared } from '../links/changes';
import { forget } from '../links/list';

type Link = Schema<'URL'>;

/** The dialog that duplicates a link. The copy opens, so that its differences can be entered. */
export function Duplicate({ link, onClose }: { link: Link; onClose: () => void }) {
  const saving = useSaving(['customSlug', 'domain', 'title']);
  const [fields, setFields] = useState({
    customSlug: '',
    domain: link.domain,
    title: link.title ?? '',
  });
  const set = (values: Partial<typeof fields>) => setFields((last) => ({ ...last, ...values }));
  const save = async () => {
    const { customSlug, domain, title } = fields;
    const copy = await api.post('/api/urls/{id}/duplicate', {
      path: { id: link.id },
      body: {
        ...(customSlug.trim() && { customSlug: customSlug.trim() }),
        domain: domain === shared ? null : domain,
        title: title.trim() || null,
      },
    });
    notify(t('create.ready', { link: bare(copy.shortUrl) }));
    forget();
    onClose();
    go(`/links/${copy.id}?edit=1`);
  };
  return (
    <FormDialog
      title={t('copy.title', { link: bare(link.shortUrl) })}
      action={t('copy.action')}
      kind="primary"
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <p class="hint">{t('copy.hint')}</p>
      <Input
        label={t('create.linkTitle')}
        name="title"
        value={fields.title}
        onValue={(title) => set({ title })}
        problem={saving.problem('title')}
        first
      />
      <Address
        slug={fields.customSlug}
        domain={fields.domain}
        fixed={false}
        explicit
        set={set}
        problem={saving.problem}
      />
    </FormDialog>
  );
}

interface ActionsProps {
  link: Link;
  onChanged: () => void;
  /** Deletes the link. */
  remove: () => Promise<void>;
}

/** The menu of a link for its editors. */
export function LinkActions({ link, onChanged, remove }: ActionsProps) {
  const [open, setOpen] = useState<'copy' | 'delete'>();
  if (!may('EDITOR')) return null;
  const ids = [link.id];
  const off = link.status === 'INACTIVE';
  const turn = async (on: boolean) => {
    await setStatus(ids, on ? 'ACTIVE' : 'INACTIVE');
    onChanged();
  };
  const toggle = async () => {
    await turn(off);
    const text = off ? t('links.enabled', { n: 1 }) : t('links.disabled', { n: 1 });
    notify(text, () => void turn(!off).catch(complain));
  };
  const gone = () => {
    forget();
    go('/links');
  };
  const bin = async () => {
    await remove();
    gone();
    notify(t('links.deleted', { n: 1 }), () => {
      const back = async () => {
        await restore(link.id);
        forget();
        go(`/links/${link.id}`);
      };
      void back().catch(complain);
    });
  };
  const kept = (workspace.value?.trashDays ?? 1) > 0;
  const works = link.status !== 'SUSPENDED';
  return (
    <>
      <Menu
        label={t('links.actionsOf', { link: bare(link.shortUrl) })}
        items={[
          works && {
            icon: off ? 'play' : 'pause',
            text: off ? t('links.enable') : t('links.disable'),
            onPick: () => void toggle().catch(complain),
          },
          works && { icon: 'copy', text: t('copy.action'), onPick: () => setOpen('copy') },
          works && 'line',
          {
            icon: 'trash',
            text: t('action.delete'),
            danger: true,
            onPick: () => (kept ? void bin().catch(complain) : setOpen('delete')),
          },
        ]}
      />
      {open === 'copy' && <Duplicate link={link} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <Confirm
          title={t('trash.ask', { n: 1 })}
          action={t('trash.purge')}
          onConfirm={async () => {
            await remove();
            gone();
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>{t('trash.askHint')}</p>
        </Confirm>
      )}
    </>
  );
}

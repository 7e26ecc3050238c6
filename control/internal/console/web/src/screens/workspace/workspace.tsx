// The workspace itself: its name, its settings, its end.
import { api } from '../../api/client';
import { query, search, to } from '../../route';
import { may, nameOf, reloadWorkspaces, workspace, type Workspace } from '../../session';
import { day, number, t } from '../../text';
import { Button } from '../../ui/button';
import { useDraft } from '../../ui/draft';
import { Input, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Icon } from '../../ui/icon';
import { NameField } from '../../ui/namefield';
import { Head, Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Secret } from '../../ui/secret';
import { notify } from '../../ui/toast';
import { nameOfRole } from '../members/roles';
import { SharedReports } from '../sharing/list';
import { Conversions } from './conversions';
import { Remove } from './remove';
import { Restored } from './restored';

function Facts({ of: w }: { of: Workspace }) {
  const facts = [
    [t('ws.role'), nameOfRole(w.role)],
    [t('nav.members'), <a href={to('/members')}>{number(w.memberCount)}</a>],
    [t('nav.links'), <a href={to('/links')}>{number(w.urlCount)}</a>],
    [t('ws.trash'), w.trashDays > 0 ? t('ws.trashDays', { n: w.trashDays }) : t('ws.noTrash')],
    [t('ws.since'), day(w.createdAt)],
  ] as const;
  return (
    <dl class="facts-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const fieldsOf = ({ name, slug, previews }: Workspace) => ({ name, slug, previews });

function Names({ of: w, onSaved }: { of: Workspace; onSaved: () => void }) {
  const draft = useDraft(`workspace.${w.id}`, fieldsOf(w));
  const saving = useSaving(['name', 'slug']);
  const { name, slug, previews } = draft.value;
  const save = async () => {
    const body = {
      ...(name !== w.name && { name }),
      ...(slug !== w.slug && { slug: slug.trim() }),
      ...(previews !== w.previews && { previews }),
    };
    const saved = await api.put('/api/workspaces/{id}', { path: { id: w.id }, body });
    draft.saved(draft.value, fieldsOf(saved));
    notify(t('labels.saved'));
    await reloadWorkspaces();
    onSaved();
  };
  return (
    <form
      class="form"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void saving.run(save);
      }}
    >
      <Restored draft={draft} initial={fieldsOf(w)} />
      {saving.error !== undefined && <Problem error={saving.error} />}
      <NameField
        value={name}
        onValue={(name) => draft.patch({ name })}
        problem={saving.problem('name')}
        first={false}
      />
      <Input
        label={t('create.slug')}
        hint={t('ws.slugChange')}
        name="slug"
        autocomplete="off"
        spellcheck={false}
        value={slug}
        onValue={(slug) => draft.patch({ slug })}
        problem={saving.problem('slug')}
      />
      <Tick
        label={t('ws.previews')}
        name="previews"
        checked={previews}
        onValue={(previews) => draft.patch({ previews })}
      />
      <footer>
        <Button kind="primary" type="submit" busy={saving.busy}>
          {t('action.save')}
        </Button>
      </footer>
    </form>
  );
}

/** The screen of the workspace. */
export function WorkspaceScreen() {
  const listed = workspace.value;
  const fresh = useResource(listed?.id ?? '', (signal) =>
    api.get('/api/workspaces/{id}', { path: { id: listed?.id ?? '' }, signal }),
  );
  const here = fresh.data ?? listed;
  if (!here) return null;
  return (
    <>
      <Head title={nameOf(here)} note={here.isPersonal ? undefined : <span class="mono">{here.slug}</span>} />
      {fresh.error !== undefined && <Problem error={fresh.error} retry={fresh.reload} />}
      <Section title={t('ws.about')}>
        <Facts of={here} />
        {may('ADMIN') && <Names key={here.id} of={here} onSaved={fresh.reload} />}
        <div class="form">
          <Secret label={t('ws.id')} value={here.id} />
        </div>
      </Section>
      <Conversions />
      {may('EDITOR') && <SharedReports />}
      {may('ADMIN') && (
        <Section title={t('ws.archive')} hint={t('ws.archiveHint')}>
          <p>
            {/* The browser saves it, because an archive can be larger than the memory of a tab. */}
            <a class="button plain" href={`/api/workspaces/${here.id}/archive`} download="">
              <Icon name="download" />
              {t('links.export')}
            </a>
          </p>
        </Section>
      )}
      {may('OWNER') && !here.isPersonal && (
        <Section title={t('ws.delete')} hint={t('ws.deleteHint')}>
          <p>
            <Button kind="danger" icon="trash" onClick={() => search({ dialog: 'delete' })}>
              {t('ws.delete')}
            </Button>
          </p>
          {query.value.get('dialog') === 'delete' && <Remove workspace={here} onClose={() => search({ dialog: '' })} />}
        </Section>
      )}
    </>
  );
}

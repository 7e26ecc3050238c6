import { api, type Schema } from '../../api/client';
import { reloadWorkspaces } from '../../session';
import { opened } from '../../shortcuts';
import { switchTo } from '../../switch';
import { t } from '../../text';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { notify } from '../../ui/toast';

const blank = { name: '', slug: '' };

const close = () => {
  opened.value = undefined;
};

/** The dialog for a new workspace. Afterwards, the user works in it. */
export function CreateWorkspace() {
  const draft = useDraft('workspace', blank);
  const saving = useSaving(['name', 'slug']);
  const { name, slug } = draft.value;
  const save = async () => {
    const body = { name, ...(slug.trim() && { slug: slug.trim() }) };
    const made: Schema<'Workspace'> = await api.post('/api/workspaces', { body });
    draft.discard(blank);
    close();
    switchTo(made, '/members');
    notify(t('ws.made', { name: made.name }));
    await reloadWorkspaces();
  };
  return (
    <FormDialog title={t('ws.new')} action={t('ws.create')} saving={saving} save={save} onClose={close}>
      <p class="hint">{t('ws.newHint')}</p>
      <NameField value={name} onValue={(name) => draft.patch({ name })} problem={saving.problem('name')} />
      <Input
        label={t('create.slug')}
        hint={t('ws.slugHint')}
        name="slug"
        autocomplete="off"
        spellcheck={false}
        value={slug}
        onValue={(slug) => draft.patch({ slug })}
        problem={saving.problem('slug')}
      />
    </FormDialog>
  );
}

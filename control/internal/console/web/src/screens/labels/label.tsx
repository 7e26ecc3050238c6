import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { t } from '../../text';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Picker } from '../../ui/picker';
import { notify } from '../../ui/toast';
import { TagField } from '../link/tags';
import { inPortions } from '../links/changes';

interface LabelLinksProps {
  ids: readonly string[];
  onClose: () => void;
  onDone: () => void;
}

/** The bundles of a workspace by their id. A page has all links of its bundles, so it is short. */
async function bundles(search: string, signal: AbortSignal) {
  const { data } = await api.get('/api/bundles', { query: { search, pageSize: 20 }, signal });
  return data.map((one) => [one.id, one.name] as const);
}

/** The dialog that adds and removes tags of many links, and puts the links into a bundle. Other tags stay. */
export function LabelLinks({ ids, onClose, onDone }: LabelLinksProps) {
  const [tags, setTags] = useState<string[]>([]);
  const [gone, setGone] = useState<string[]>([]);
  const [bundle, setBundle] = useState<readonly [string, string]>(['', '']);
  const saving = useSaving();
  const n = ids.length;
  const change = (operation: string, value: unknown) =>
    inPortions(ids, (urlIds) => api.patch('/api/urls/bulk', { body: { urlIds, operation, value } }));
  const save = async () => {
    if (tags.length > 0) await change('tags', tags);
    if (bundle[0] !== '') await change('bundle', bundle[0]);
    if (gone.length > 0) await change('removeTags', gone); // the last one, because nothing refuses it
    notify(t('links.labelled', { n }));
    onClose();
    onDone();
  };
  return (
    <FormDialog
      title={t('links.labelTitle', { n })}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <TagField label={t('links.tagsAdd')} values={tags} onValues={setTags} problem={saving.problem('value')} />
      <TagField label={t('links.tagsRemove')} values={gone} onValues={setGone} problem={undefined} />
      <Picker
        label={t('links.bundle')}
        name="bundle"
        shown={bundle[1]}
        none="–"
        find={bundles}
        onPick={(id, name) => setBundle([id, name])}
        hint={t('links.labelHint')}
      />
    </FormDialog>
  );
}

// Settings of the system: JSON values by key.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search, to } from '../../route';
import { moment, t } from '../../text';
import { jsonProblem } from '../../text/json';
import { Button, IconButton } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Area, Input } from '../../ui/field';
import { refused, useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Empty, Head, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { notify } from '../../ui/toast';
import type { Setting } from './rules';

interface SettingFormProps {
  of: Setting | undefined;
  known: readonly Setting[];
  onClose: () => void;
  onSaved: () => void;
}

function SettingForm({ of, known, onClose, onSaved }: SettingFormProps) {
  const [key, setKey] = useState(of?.key ?? '');
  const [value, setValue] = useState(of ? JSON.stringify(of.value, null, 2) : '');
  const [description, setDescription] = useState(of?.description ?? '');
  const saving = useSaving(['key', 'value', 'description']);
  const save = async () => {
    const name = key.trim();
    // The address of another key would be that of the list.
    if (/^\.{0,2}$/.test(name)) throw refused('key', t('setting.keyMissing'));
    if (!of && known.some((one) => one.key === name)) throw refused('key', t('setting.exists'));
    let parsed: unknown;
    try {
      parsed = JSON.parse(value);
    } catch (error) {
      throw refused('value', t('rules.jsonWrong', { problem: jsonProblem(error) }));
    }
    const body = { value: parsed, description: description.trim() || null };
    await api.put('/api/settings/system/{key}', { path: { key: name }, body });
    notify(t('labels.saved'));
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={of ? t('labels.editOne', { name: of.key }) : t('setting.new')}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {!of && (
        <Input
          label={t('setting.key')}
          name="key"
          autocomplete="off"
          spellcheck={false}
          value={key}
          onValue={setKey}
          problem={saving.problem('key')}
          first
        />
      )}
      <Area
        label={t('rules.value')}
        hint="JSON"
        name="value"
        rows={6}
        class="mono"
        value={value}
        onValue={setValue}
        problem={saving.problem('value')}
      />
      <Input
        label={t('labels.description')}
        name="description"
        value={description}
        onValue={setDescription}
        problem={saving.problem('description')}
      />
    </FormDialog>
  );
}

/** The screen of the settings. */
export function Settings() {
  const list = useResource('settings', (signal) => api.get('/api/settings/system', { signal }));
  const [doomed, doom] = useState<Setting>();
  if (list.error !== undefined || !list.data) return <Waiting of={list} />;
  const edited = list.data.find((one) => one.key === query.value.get('edit'));
  return (
    <>
      <Head title={t('nav.system.settings')}>
        <Button kind="primary" icon="plus" onClick={() => search({ new: '1' })}>
          {t('setting.new')}
        </Button>
      </Head>
      <p class="hint lead">
        {t('setting.hint')} <a href={to('/providers')}>{t('nav.providers')}</a>
      </p>
      {list.data.length === 0 && <Empty title={t('setting.none')} hint={t('setting.noneHint')} />}
      {list.data.length > 0 && (
        <Table
          label={t('nav.system.settings')}
          rows={list.data}
          keyOf={(one) => one.key}
          columns={[
            {
              name: t('setting.key'),
              cell: (one) => (
                <>
                  <p class="mono">{one.key}</p>
                  {one.description && <p class="hint">{one.description}</p>}
                </>
              ),
            },
            { name: t('rules.value'), cell: (one) => <code>{JSON.stringify(one.value)}</code> },
            { name: t('setting.changed'), cell: (one) => moment(one.updatedAt) },
            {
              name: t('test.actions'),
              cell: (one) => (
                <>
                  <IconButton
                    icon="edit"
                    label={t('labels.editOne', { name: one.key })}
                    onClick={() => search({ edit: one.key })}
                  />
                  <IconButton icon="trash" label={t('labels.deleteOne', { name: one.key })} onClick={() => doom(one)} />
                </>
              ),
            },
          ]}
        />
      )}
      {(edited ?? query.value.has('new')) && (
        <SettingForm
          key={edited?.key}
          of={edited}
          known={list.data}
          onClose={() => search({ new: '', edit: '' })}
          onSaved={list.reload}
        />
      )}
      {doomed && (
        <Deletion
          name={doomed.key}
          remove={() => api.delete('/api/settings/system/{key}', { path: { key: doomed.key } })}
          onDeleted={list.reload}
          onClose={() => doom(undefined)}
        >
          {t('setting.deleteHint')}
        </Deletion>
      )}
    </>
  );
}

// The dialog that changes many links at once: what to change, what that would do, and what it has done.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { DateTime } from '../../ui/datetime';
import { Dialog } from '../../ui/dialog';
import { Input, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { useLater } from '../../ui/later';
import { Picker } from '../../ui/picker';
import { Problem } from '../../ui/problem';
import { domains } from '../link/address';
import { CampaignFields } from '../link/campaign';
import { TagField } from '../link/tags';
import { shared } from '../links/changes';
import { forget, isFiltered, type List, type Selection } from '../links/list';
import { blank, changeOf, filterOf, isEmpty, type Draft } from './change';
import { bundles } from './filters';
import { Job } from './job';
import { Preview, usePreview } from './preview';

interface FieldsProps {
  draft: Draft;
  set: (values: Partial<Draft>) => void;
  problem: (field: string) => string | undefined;
}

const codes = ['302', '301', '307', '308'] as const;

interface BundleProps {
  label: string;
  name: 'bundle' | 'removeBundle';
  value: Draft['bundle'];
  set: FieldsProps['set'];
  problem: string | undefined;
}

function BundleField({ label, name, value, set, problem }: BundleProps) {
  const pick = (id: string, text: string) => set({ [name]: [id, id && text] });
  return <Picker label={label} name={name} shown={value[1]} none="–" find={bundles} problem={problem} onPick={pick} />;
}

/** Where the links are: bundles and domain. */
function Places({ draft, set, problem }: FieldsProps) {
  const { domain, bundle, removeBundle } = draft;
  const into = problem('change.bundleIds');
  const outOf = problem('change.removeBundleIds');
  return (
    <div class="pair">
      <BundleField label={t('links.edit.bundleAdd')} name="bundle" value={bundle} set={set} problem={into} />
      <BundleField
        label={t('links.edit.bundleRemove')}
        name="removeBundle"
        value={removeBundle}
        set={set}
        problem={outOf}
      />
      <Picker
        label={t('links.domain')}
        name="domain"
        shown={domain === shared ? t('create.shared') : domain || t('links.edit.same')}
        none={t('links.edit.same')}
        find={domains}
        hint={domain && t('links.edit.moves')}
        problem={problem('change.domain')}
        onPick={(next) => set({ domain: next })}
      />
    </div>
  );
}

/** What can be changed. What is left empty stays. */
function Fields({ draft, set, problem }: FieldsProps) {
  const same = ['', t('links.edit.same')] as const;
  return (
    <>
      <div class="pair">
        <Input
          label={t('links.edit.find')}
          name="find"
          autocomplete="off"
          spellcheck={false}
          value={draft.find}
          problem={problem('change.replace.find')}
          onValue={(find) => set({ find })}
          first
        />
        <Input
          label={t('links.edit.with')}
          name="with"
          autocomplete="off"
          spellcheck={false}
          value={draft.with}
          problem={problem('change.replace.with')}
          onValue={(value) => set({ with: value })}
        />
      </div>
      <div class="pair">
        <TagField
          label={t('links.tagsAdd')}
          values={draft.tags}
          onValues={(tags) => set({ tags })}
          problem={problem('change.tags')}
        />
        <TagField
          label={t('links.tagsRemove')}
          values={draft.removeTags}
          onValues={(removeTags) => set({ removeTags })}
          problem={problem('change.removeTags')}
        />
      </div>
      <Places draft={draft} set={set} problem={problem} />
      <div class="pair">
        <Select
          label={t('links.status')}
          name="status"
          value={draft.status}
          options={[same, ['ACTIVE', t('status.ACTIVE')], ['INACTIVE', t('status.INACTIVE')]]}
          onValue={(status) => set({ status })}
        />
        <Select
          label={t('edit.redirectCode')}
          name="redirectCode"
          value={draft.redirectCode}
          options={[same, ...codes.map((code) => [code, t(`edit.code.${code}`)] as const)]}
          onValue={(redirectCode) => set({ redirectCode })}
        />
        <Select
          label={t('edit.expiresAt')}
          name="expiry"
          value={draft.expiry}
          options={[same, ['at', t('links.edit.expiryAt')], ['never', t('links.edit.expiryNever')]]}
          onValue={(expiry) => set({ expiry })}
        />
        {draft.expiry === 'at' && (
          <DateTime
            label={t('links.edit.expiryAt')}
            name="expiresAt"
            value={draft.expiresAt}
            problem={problem('change.expiresAt')}
            onValue={(expiresAt) => set({ expiresAt })}
          />
        )}
      </div>
      <details>
        <summary>{t('edit.campaign')}</summary>
        <CampaignFields fields={draft} set={set} problem={(field) => problem(`change.utm.${field}`)} />
      </details>
    </>
  );
}

interface EditProps {
  list: List;
  selection: Selection;
  /** The selected links. */
  ids: readonly string[];
  onClose: () => void;
}

const pause = 400; // milliseconds without a key before the preview is asked for

export function Edit({ list, selection, ids, onClose }: EditProps) {
  const [draft, setDraft] = useState(blank);
  const [scope, setScope] = useState<'chosen' | 'all'>('chosen');
  const [job, setJob] = useState<Schema<'URLEdit'>>();
  const saving = useSaving(['change']);
  const total = list.count.value ?? 0;
  const links = scope === 'all' ? { filter: filterOf(selection) } : { urlIds: [...ids] };
  const body = { ...links, change: changeOf(draft) };
  const wanted = useLater(JSON.stringify(body), pause);
  const preview = usePreview(wanted);
  const nothing = isEmpty(body.change);
  const n = scope === 'all' ? total : ids.length;
  const set = (values: Partial<Draft>) => setDraft((last) => ({ ...last, ...values }));
  const problem = (field: string) => saving.problem(field) ?? preview.problem(field);
  const changed = () => {
    forget();
    list.refresh();
  };
  if (job) return <Job first={job} list={list} onChanged={changed} onClose={onClose} />;
  return (
    <Dialog title={t('links.edit.title', { n })} onClose={onClose}>
      <form
        class="bulkedit"
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!nothing) void saving.run(async () => setJob(await api.post('/api/url-edits', { body })));
        }}
      >
        {saving.error !== undefined && <Problem error={saving.error} />}
        {total > ids.length && (
          <Select
            label={t('links.title')}
            name="which"
            value={scope}
            options={[
              ['chosen', t('links.edit.chosen', { n: ids.length })],
              ['all', isFiltered(selection) ? t('links.edit.matching') : t('links.edit.all')],
            ]}
            onValue={setScope}
          />
        )}
        <Fields draft={draft} set={set} problem={problem} />
        <Preview of={preview} empty={nothing} list={list} />
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" busy={saving.busy} aria-disabled={nothing}>
            {t('links.edit.start', { n: preview.data && !nothing ? preview.data.changed : n })}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

// The dialog that shares a report, or changes how one is shared.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { DateTime } from '../../ui/datetime';
import { Area, Input, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { Secret } from '../../ui/secret';
import { instant, local } from '../../ui/time';

export type Shared = Schema<'SharedReport'>;

/** What a new shared report is about, and its fixed range and filters. */
export interface Subject {
  about: Shared['about'];
  target?: string;
  selection: Schema<'SharedSelection'>;
  name: string;
}

interface ShareFormProps {
  /** The shared report to change, or what to share. */
  of: Shared | Subject;
  onClose: () => void;
  onSaved: (shared: Shared) => void;
}

interface Fields {
  name: string;
  password: string;
  open: boolean;
  expiresAt: string;
  origins: string;
  showLinks: boolean;
}

const fieldsOf = (of: Shared | Subject): Fields => ({
  name: of.name,
  password: '',
  open: false,
  expiresAt: 'id' in of ? local(of.expiresAt) : '',
  origins: 'id' in of ? of.origins.join('\n') : '',
  showLinks: 'id' in of ? of.showLinks : true,
});

interface PasswordProps {
  old: Shared | undefined;
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  problem: string | undefined;
}

/** The password, and the choice to remove the one that there is. */
function Password({ old, fields, set, problem }: PasswordProps) {
  return (
    <>
      <Input
        label={t('signin.password')}
        hint={old?.hasPassword ? t('share.passwordKept') : t('share.passwordHint')}
        name="password"
        type="password"
        autocomplete="new-password"
        value={fields.password}
        onValue={(password) => set({ password })}
        problem={problem}
      />
      {old?.hasPassword && (
        <Tick
          label={t('share.passwordOff')}
          name="open"
          checked={fields.open}
          onValue={(open) => set({ open, password: '' })}
        />
      )}
    </>
  );
}

/** The dialog. A password that is left empty stays as it is. */
export function ShareForm({ of, onClose, onSaved }: ShareFormProps) {
  const old = 'id' in of ? of : undefined;
  const [fields, setFields] = useState(() => fieldsOf(of));
  const saving = useSaving(['name', 'password', 'expiresAt', 'origins']);
  const set = (values: Partial<Fields>) => setFields({ ...fields, ...values });
  const save = async () => {
    const common = {
      name: fields.name,
      origins: fields.origins.split(/\s+/).filter(Boolean),
      showLinks: fields.showLinks,
      // An end in the past stays as it is, unless somebody changes it.
      ...(fields.expiresAt !== local(old?.expiresAt) && { expiresAt: instant(fields.expiresAt) }),
      ...(fields.open ? { password: null } : fields.password !== '' && { password: fields.password }),
    };
    if (old) onSaved(await api.put('/api/shared-reports/{id}', { path: { id: old.id }, body: common }));
    else {
      const { about, target, selection } = of as Subject;
      const body = { ...common, about, selection, ...(target !== undefined && { target }) };
      onSaved(await api.post('/api/shared-reports', { body }));
    }
  };
  return (
    <FormDialog
      title={old ? t('share.editOne', { name: old.name }) : t('share.title')}
      action={old ? t('action.save') : t('share.share')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {!old && <p class="hint">{t('share.hint')}</p>}
      <NameField
        label={t('share.name')}
        value={fields.name}
        onValue={(name) => set({ name })}
        problem={saving.problem('name')}
      />
      <Password old={old} fields={fields} set={set} problem={saving.problem('password')} />
      <DateTime
        label={t('share.expires')}
        name="expiresAt"
        value={fields.expiresAt}
        onValue={(expiresAt) => set({ expiresAt })}
        problem={saving.problem('expiresAt')}
      />
      <Area
        label={t('share.origins')}
        hint={t('share.originsHint')}
        name="origins"
        rows={2}
        value={fields.origins}
        onValue={(origins) => set({ origins })}
        problem={saving.problem('origins')}
      />
      {of.about !== 'link' && (
        <Tick
          label={t('share.showLinks')}
          name="showLinks"
          checked={fields.showLinks}
          onValue={(showLinks) => set({ showLinks })}
        />
      )}
    </FormDialog>
  );
}

/** Shows the address of a report that was shared just now, and how to embed it. */
export function Made({ made, onClose }: { made: Shared; onClose: () => void }) {
  const address = made.address ?? '';
  const title = made.name.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
  return (
    <Dialog title={t('share.made')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
        }}
      >
        <Secret label={t('share.address')} value={address} />
        {made.origins.length > 0 && (
          <Secret
            label={t('share.embed')}
            value={`<iframe src="${address}" title="${title}" width="100%" height="900" style="border:0"></iframe>`}
          />
        )}
        <p class="hint">{t('share.madeHint')}</p>
        <footer>
          <Button kind="primary" type="submit">
            {t('action.close')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Shares a report: the form, and then the address. */
export function ShareDialog({ of, onClose }: { of: Subject; onClose: () => void }) {
  const [made, setMade] = useState<Shared>();
  if (made) return <Made made={made} onClose={onClose} />;
  return <ShareForm of={of} onClose={onClose} onSaved={setMade} />;
}

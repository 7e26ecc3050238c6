import { useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { t } from '../../text';
import { DateTime } from '../../ui/datetime';
import { Input, Select } from '../../ui/field';
import type { Fields } from './fields';
import { TagField } from './tags';

export interface PartProps {
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  /** The problem of a field of the API. */
  problem: (field: string) => string | undefined;
}

/** Whether a part is or was in use. It stays open when the last of its fields is cleared, because somebody is working there. */
export function useOpen(used: boolean): boolean {
  const open = useRef(false);
  open.current ||= used;
  return open.current;
}

/** A part of the form that is closed until the link uses it, or one of its fields has a problem. */
export function Part({ title, open, children }: { title: string; open: boolean; children: ComponentChildren }) {
  return (
    <details class="part" open={useOpen(open)}>
      <summary>{title}</summary>
      <div class="pair">{children}</div>
    </details>
  );
}

export function Basics({ fields, set, problem }: PartProps) {
  return (
    <>
      <Input
        label={t('create.destination')}
        name="originalUrl"
        inputmode="url"
        spellcheck={false}
        value={fields.originalUrl}
        problem={problem('originalUrl')}
        onValue={(originalUrl) => set({ originalUrl })}
      />
      <Input
        label={t('create.linkTitle')}
        name="title"
        hint={t('create.titleHint')}
        value={fields.title}
        problem={problem('title')}
        onValue={(title) => set({ title })}
      />
      <TagField values={fields.tags} onValues={(tags) => set({ tags })} problem={problem('tags')} />
    </>
  );
}

export function Schedule({ fields, set, problem }: PartProps) {
  const used = ['startsAt', 'expiresAt', 'maxClicks', 'expiredUrl'] as const;
  return (
    <Part title={t('edit.schedule')} open={used.some((name) => fields[name] !== '' || problem(name))}>
      <DateTime
        label={t('edit.startsAt')}
        name="startsAt"
        hint={t('edit.startsAtHint')}
        value={fields.startsAt}
        problem={problem('startsAt')}
        onValue={(startsAt) => set({ startsAt })}
      />
      <DateTime
        label={t('edit.expiresAt')}
        name="expiresAt"
        hint={new Date(fields.expiresAt) < new Date() ? <strong>{t('edit.past')}</strong> : t('edit.expiresAtHint')}
        value={fields.expiresAt}
        problem={problem('expiresAt')}
        onValue={(expiresAt) => set({ expiresAt })}
      />
      <Input
        label={t('edit.maxClicks')}
        name="maxClicks"
        inputmode="numeric"
        hint={t('edit.maxClicksHint')}
        value={fields.maxClicks}
        problem={problem('maxClicks')}
        onValue={(maxClicks) => set({ maxClicks })}
      />
      <Input
        label={t('edit.expiredUrl')}
        name="expiredUrl"
        inputmode="url"
        hint={t('edit.expiredUrlHint')}
        value={fields.expiredUrl}
        problem={problem('expiredUrl')}
        onValue={(expiredUrl) => set({ expiredUrl })}
      />
    </Part>
  );
}

const codes = ['302', '301', '307', '308'] as const;

export function More({ fields, set, problem, protectedNow }: PartProps & { protectedNow: boolean }) {
  const open =
    protectedNow ||
    fields.redirectCode !== '302' ||
    fields.forwardPath ||
    fields.externalId !== '' ||
    fields.notes !== '' ||
    ['password', 'redirectCode', 'externalId', 'notes'].some((name) => problem(name));
  return (
    <Part title={t('edit.more')} open={open}>
      <Input
        label={t('signin.password')}
        name="password"
        type="password"
        autocomplete="new-password"
        hint={protectedNow ? t('edit.passwordKeep') : t('edit.passwordHint')}
        value={fields.password}
        problem={problem('password')}
        onValue={(password) => set({ password })}
      />
      <Select
        label={t('edit.redirectCode')}
        name="redirectCode"
        value={fields.redirectCode}
        options={codes.map((code) => [code, t(`edit.code.${code}`)] as const)}
        onValue={(redirectCode) => set({ redirectCode })}
      />
      <label class="tick wide">
        <input
          type="checkbox"
          name="forwardPath"
          checked={fields.forwardPath}
          onChange={(event) => set({ forwardPath: event.currentTarget.checked })}
        />
        {t('edit.forwardPath')}
      </label>
      {protectedNow && (
        <label class="tick wide">
          <input
            type="checkbox"
            name="noPassword"
            checked={fields.noPassword}
            onChange={(event) => set({ noPassword: event.currentTarget.checked })}
          />
          {t('edit.noPassword')}
        </label>
      )}
      <Input
        label={t('edit.externalId')}
        name="externalId"
        hint={t('edit.externalIdHint')}
        value={fields.externalId}
        problem={problem('externalId')}
        onValue={(externalId) => set({ externalId })}
      />
      <Input
        label={t('edit.notes')}
        name="notes"
        hint={t('edit.notesHint')}
        value={fields.notes}
        problem={problem('notes')}
        onValue={(notes) => set({ notes })}
      />
    </Part>
  );
}

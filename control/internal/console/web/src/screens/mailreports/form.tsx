// The form of a report by mail.
import { api, type Schema } from '../../api/client';
import { user, workspace } from '../../session';
import { t } from '../../text';
import { useDraft } from '../../ui/draft';
import { Area, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { ownZone, ZoneField } from '../../ui/zone';
import { Restored } from '../workspace/restored';

export type Report = Schema<'MailReport'>;

type Segment = Schema<'Segment'>;

// An address that has unsubscribed stays, so it need not be typed again.
const fieldsOf = (report: Report | undefined) => ({
  name: report?.name ?? '',
  every: report?.every ?? 'WEEK',
  segmentId: report?.segmentId ?? '',
  timezone: report?.timezone ?? ownZone(),
  recipients: report
    ? report.recipients.flatMap((one) => (one.state === 'UNSUBSCRIBED' ? [] : [one.email])).join('\n')
    : (user.value?.email ?? ''),
});

interface ReportFormProps {
  report: Report | undefined;
  segments: readonly Segment[];
  onClose: () => void;
  onSaved: (report: Report) => void;
}

/** The dialog of a new report, or of one to change. */
export function ReportForm({ report, segments, onClose, onSaved }: ReportFormProps) {
  const initial = fieldsOf(report);
  const draft = useDraft(`mailreport.${workspace.value?.id ?? ''}.${report?.id ?? ''}`, initial);
  const saving = useSaving(['name', 'every', 'segmentId', 'timezone', 'recipients']);
  const { name, every, segmentId, timezone, recipients } = draft.value;
  const save = async () => {
    const list = recipients.split(/[\s,;]+/).filter(Boolean);
    const body = { name, every, timezone, segmentId: segmentId || null, recipients: list };
    const saved = report
      ? await api.put('/api/mail-reports/{id}', { path: { id: report.id }, body })
      : await api.post('/api/mail-reports', { body });
    draft.discard(initial);
    onSaved(saved);
  };
  return (
    <FormDialog
      title={report ? t('labels.editOne', { name: report.name }) : t('mailed.new')}
      action={report ? t('action.save') : t('mailed.create')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <Restored draft={draft} initial={initial} />
      <NameField value={name} onValue={(value) => draft.patch({ name: value })} problem={saving.problem('name')} />
      <Select
        label={t('mailed.when')}
        name="every"
        value={every}
        options={[
          ['WEEK', t('mailed.weekly')],
          ['MONTH', t('mailed.monthly')],
        ]}
        onValue={(value) => draft.patch({ every: value })}
        problem={saving.problem('every')}
      />
      <ZoneField
        name="timezone"
        value={timezone}
        onValue={(value) => draft.patch({ timezone: value })}
        problem={saving.problem('timezone')}
      />
      <Select
        label={t('mailed.about')}
        hint={t('mailed.aboutHint')}
        name="segmentId"
        value={segmentId}
        options={[['', t('mailed.allClicks')], ...segments.map((one) => [one.id, one.name] as const)]}
        onValue={(value) => draft.patch({ segmentId: value })}
        problem={saving.problem('segmentId')}
      />
      <Area
        label={t('mailed.recipients')}
        hint={t('mailed.recipientsHint')}
        name="recipients"
        rows={3}
        value={recipients}
        onValue={(value) => draft.patch({ recipients: value })}
        problem={saving.problem('recipients')}
      />
    </FormDialog>
  );
}

// Annotations: notes of members and changes of links, as marks on the chart and as a list below it.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { to } from '../../route';
import { may, workspace } from '../../session';
import { language, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { useDraft } from '../../ui/draft';
import { isWhole } from '../../ui/dates';
import { DateTime } from '../../ui/datetime';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Problem } from '../../ui/problem';
import { useResource, type Resource } from '../../ui/resource';
import { local } from '../../ui/time';
import { notify } from '../../ui/toast';
import { instantIn, type Parameters } from './selection';

type Annotation = Schema<'Annotation'>;
type List = Schema<'AnnotationList'>;

/** The annotations of the range of a report. */
export function useAnnotations(id: string, parameters: Parameters): Resource<List> {
  const { timeRange, startDate, endDate, timezone, interval } = parameters;
  const range = { timeRange, startDate, endDate, timezone, interval };
  return useResource(`annotations ${JSON.stringify([workspace.value?.id, id, range])}`, (signal) =>
    api.get('/api/annotations', { query: { ...range, urlId: id || undefined }, signal }),
  );
}

/** The point of the chart in whose time an instant is, or -1. */
export function pointOf(at: string, days: readonly { at?: string; date: string }[], timezone: string): number {
  const day = local(at, timezone).slice(0, 10);
  return days.findLastIndex((one) => (one.at === undefined ? one.date <= day : Date.parse(one.at) <= Date.parse(at)));
}

/** What an annotation says. */
export function saidBy(one: Annotation): string {
  if (one.kind === 'NOTE') return one.text ?? '';
  return t(`report.mark.${one.kind as 'RULES_CHANGED'}`, { n: one.urlCount });
}

interface FormProps {
  id: string;
  /** The note that is changed; undefined: a new one. */
  note: Annotation | undefined;
  timezone: string;
  onClose: () => void;
  onSaved: () => void;
}

function Form({ id, note, timezone, onClose, onSaved }: FormProps) {
  const first = { at: local(note?.at ?? Date.now(), timezone), text: note?.text ?? '' };
  const draft = useDraft(`annotation ${note?.id ?? id}`, first);
  const { at, text } = draft.value;
  const saving = useSaving(['at', 'text']);
  const save = async () => {
    // The server names the field of a time that is not complete.
    const body = { at: isWhole(at, 'datetime') ? instantIn(at, timezone) : at, text };
    if (note) await api.put('/api/annotations/{id}', { path: { id: note.id }, body });
    else await api.post('/api/annotations', { body: { ...body, ...(id && { urlId: id }) } });
    draft.discard(first);
    notify(t('report.mark.saved'));
    onSaved();
  };
  return (
    <FormDialog
      title={note ? t('report.mark.edit') : t('report.mark.add')}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <Input
        label={t('report.mark.text')}
        name="text"
        value={text}
        onValue={(next) => draft.patch({ text: next })}
        problem={saving.problem('text')}
        first
      />
      <DateTime
        label={t('report.when')}
        name="at"
        zone={timezone}
        value={at}
        onValue={(next) => draft.patch({ at: next })}
        problem={saving.problem('at')}
      />
    </FormDialog>
  );
}

interface MarksProps {
  id: string;
  list: Resource<List>;
  timezone: string;
}

/** The list of annotations, which says everything that the marks on the chart say. */
export function Marks({ id, list, timezone }: MarksProps) {
  const [note, setNote] = useState<Annotation | 'new'>();
  const [gone, setGone] = useState<Annotation>();
  const all = list.data?.annotations ?? [];
  const format = new Intl.DateTimeFormat(language.value, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: timezone,
  });
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  return (
    <div class="annotations">
      {may('EDITOR') && (
        <Button kind="quiet" icon="plus" onClick={() => setNote('new')}>
          {t('report.mark.add')}
        </Button>
      )}
      {all.length > 0 && (
        <details>
          <summary>{t('report.marks', { n: all.length })}</summary>
          {list.data?.isTruncated && <p class="hint">{t('report.marks.more')}</p>}
          <ol>
            {all.map((one) => (
              <li key={`${one.id} ${one.kind}`} data-kind={one.kind}>
                <time dateTime={one.at}>{format.format(new Date(one.at))}</time>
                <span>
                  <bdi>{saidBy(one)}</bdi>
                  {!id && one.urlId && (
                    <>
                      {' '}
                      <a class="mono" href={to(`/links/${one.urlId}`)}>
                        <bdi>{one.urlName?.replace(/^\//, '')}</bdi>
                      </a>
                    </>
                  )}
                </span>
                {one.kind === 'NOTE' && may('EDITOR') && (
                  <>
                    <IconButton icon="edit" label={t('report.mark.edit')} onClick={() => setNote(one)} />
                    <IconButton icon="trash" label={t('report.mark.delete')} onClick={() => setGone(one)} />
                  </>
                )}
              </li>
            ))}
          </ol>
        </details>
      )}
      {note && (
        <Form
          id={id}
          note={note === 'new' ? undefined : note}
          timezone={timezone}
          onClose={() => setNote(undefined)}
          onSaved={() => {
            setNote(undefined);
            list.reload();
          }}
        />
      )}
      {gone && (
        <Confirm
          title={t('report.mark.delete')}
          action={t('action.delete')}
          onClose={() => setGone(undefined)}
          onConfirm={async () => {
            await api.delete('/api/annotations/{id}', { path: { id: gone.id } });
            list.reload();
          }}
        >
          <p>
            <bdi>{gone.text}</bdi>
          </p>
        </Confirm>
      )}
    </div>
  );
}

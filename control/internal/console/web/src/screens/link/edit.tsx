// The form of a link in a sheet at the side of its page, with what visitors will see beside it.
import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { useDraft } from '../../ui/draft';
import { Footer } from '../../ui/footer';
import { useWrongFocus } from '../../ui/form';
import { Problem } from '../../ui/problem';
import { Sheet } from '../../ui/sheet';
import { bare } from '../links/changes';
import { Campaign } from './campaign';
import { changesOf, collisions, draftKey, fieldsOf, labels, merged, type Fields } from './fields';
import { Basics, More, Schedule } from './form';
import { hasOwn, pictureOf, Preview, usePage } from './preview';
import { Social } from './social';

type Link = Schema<'URL'>;

const said = (value: string | string[] | boolean): string =>
  Array.isArray(value) ? value.join(', ') : value === '' ? '–' : `${value}`;

/** Both versions of the fields that two people have changed. */
function Conflict({
  base,
  error,
  mine,
  onMerge,
  onTheirs,
}: {
  base: Link;
  error: ApiError;
  mine: Fields;
  onMerge: (theirs: Link) => void;
  onTheirs: (theirs: Link) => void;
}) {
  const { who } = error;
  const theirs = error.current as Link;
  const names = collisions(base, theirs, mine);
  const other = fieldsOf(theirs);
  return (
    <div class="notice warn" role="alert">
      <div>
        <p>{names.length > 0 ? t('edit.conflict', { who }) : t('edit.changedElsewhere', { who })}</p>
        {names.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">{t('edit.field')}</th>
                <th scope="col">{t('edit.yours')}</th>
                <th scope="col">{t('rules.theirs')}</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{t(labels[name])}</th>
                  <td dir="auto">{said(mine[name])}</td>
                  <td dir="auto">{said(other[name])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <Button onClick={() => onTheirs(theirs)}>{t('rules.takeTheirs')}</Button>
      <Button kind="primary" onClick={() => onMerge(theirs)}>
        {t('rules.keepMine')}
      </Button>
    </div>
  );
}

/** Says that the form has what the user typed before. */
function Restored({ onDiscard }: { onDiscard: () => void }) {
  return (
    <div class="notice">
      <p>{t('create.draft')}</p>
      <Button onClick={onDiscard}>{t('create.discard')}</Button>
    </div>
  );
}

interface EditProps {
  link: Link;
  /** Called after the link has changed. `done` is false if the user goes on. */
  onSaved: (link: Link, done: boolean) => void;
  onClose: () => void;
}

function Form({ link, onSaved, onClose }: EditProps) {
  const draft = useDraft<Fields>(draftKey(link.id), fieldsOf(link));
  const [base, setBase] = useState(link);
  const [error, setError] = useState<unknown>(undefined);
  useWrongFocus(error);
  const [busy, setBusy] = useState(false);
  const fields = draft.value;
  const { data: page } = usePage(hasOwn(fields, pictureOf(base.ogImage)) ? '' : fields.originalUrl);
  const problems = error instanceof ApiError ? error.fields : [];
  const part = {
    fields,
    set: (values: Partial<Fields>) => draft.set({ ...fields, ...values }),
    problem: (name: string) => problems.find((one) => one.field.split(/[.[]/)[0] === name)?.message,
  };

  const follow = (now: Link, done = false) => {
    setBase(now);
    onSaved(now, done);
  };
  const save = async (over: Link, what: Fields) => {
    setBusy(true);
    try {
      const saved = await api.put('/api/urls/{id}', {
        path: { id: link.id },
        body: changesOf(over, what),
        ifMatch: over,
      });
      const typedSince = draft.saved(what, fieldsOf(saved));
      setError(undefined);
      follow(saved, !typedSince);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  const stale = error instanceof ApiError && error.current ? error : undefined;
  const begin = (from: Link) => {
    draft.discard(fieldsOf(from));
    setBase(from);
    setError(undefined);
  };
  const keep = (other: Link) => {
    const next = merged(base, other, fields);
    draft.set(next);
    setBase(other);
    void save(other, next);
  };

  return (
    <form
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void save(base, fields);
      }}
    >
      {draft.restored && <Restored onDiscard={() => begin(link)} />}
      {stale && <Conflict base={base} error={stale} mine={fields} onMerge={keep} onTheirs={begin} />}
      {!stale && error !== undefined && <Problem error={error} marked />}
      <div class="sides">
        <div class="linkform">
          <Basics {...part} />
          <Schedule {...part} />
          <Campaign {...part} />
          <Social {...part} link={base} onImage={follow} />
          <More {...part} protectedNow={base.hasPassword} />
        </div>
        <Preview
          fields={fields}
          short={bare(base.shortUrl)}
          image={pictureOf(base.ogImage)}
          page={page}
          isProtected={fields.password !== '' || (base.hasPassword && !fields.noPassword)}
        />
      </div>
      <Footer busy={busy} onCancel={onClose} />
    </form>
  );
}

/** The sheet. What is typed and not saved stays when it is closed. */
export function EditSheet(props: EditProps) {
  return (
    <Sheet title={t('over.edit', { link: bare(props.link.shortUrl) })} onClose={props.onClose} wide>
      <Form key={props.link.id} {...props} />
    </Sheet>
  );
}

import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { copied } from '../../ui/copy';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { Problem } from '../../ui/problem';
import { notify } from '../../ui/toast';
import { Campaign } from '../link/campaign';
import { differences, noFields, type Fields } from '../link/fields';
import { More as Advanced, Schedule } from '../link/form';
import { TagField } from '../link/tags';
import { Address, shared } from './address';
import { bare, complete } from './changes';
import { Page } from './page';

interface Draft extends Fields {
  customSlug: string;
  /** As in `Address`. */
  domain: string;
  /** The title of the page, while it is the title of the link. */
  pageTitle: string;
}

const blank: Draft = { ...noFields, customSlug: '', domain: '', pageTitle: '' };

/** Where a new link has to be, for slugs that visitors ask for already. */
export interface Place {
  /** The host that visitors ask. */
  host: string;
  slug: string;
  /** The custom domain; '' is the shared one. */
  domain: string;
  /** The workspace of the domain, if it may be another one than the chosen one. */
  within?: string | undefined;
}

/** What to send to the API: only what was typed. */
export function requestOf(draft: Draft): Schema<'CreateURL'> {
  return {
    ...differences(noFields, draft),
    originalUrl: complete(draft.originalUrl),
    ...(draft.customSlug.trim() && { customSlug: draft.customSlug.trim() }),
    ...(draft.domain && { domain: draft.domain === shared ? '' : draft.domain }),
  };
}

interface MoreProps {
  draft: Draft;
  place: Place | undefined;
  set: (values: Partial<Draft>) => void;
  problem: Problems;
}

function More({ draft, place, set, problem }: MoreProps) {
  return (
    <>
      <Address
        slug={draft.customSlug}
        domain={draft.domain}
        fixed={place !== undefined}
        within={place?.within}
        set={set}
        problem={problem}
      />
      <Input
        label={t('create.linkTitle')}
        hint={t('create.titleHint')}
        problem={problem('title')}
        name="title"
        value={draft.title}
        onValue={(title) => set({ title })}
      />
      <TagField values={draft.tags} onValues={(tags) => set({ tags })} problem={problem('tags')} />
      <Campaign address={draft.originalUrl} fields={draft} set={set} problem={problem} />
      <Schedule fields={draft} set={set} problem={problem} />
      <Advanced fields={draft} set={set} problem={problem} protectedNow={false} />
    </>
  );
}

type Problems = (field: string) => string | undefined;

interface CreateProps {
  place?: Place | undefined;
  onClose: () => void;
  onCreated: (link: Schema<'URL'>) => void;
}

/** The dialog for a new link: paste an address and press Enter. */
export function Create({ place, onClose, onCreated }: CreateProps) {
  // Each place has a draft of its own.
  const kept = useDraft<Draft>(place ? `link new ${place.host}/${place.slug}` : 'link new', {
    ...blank,
    ...(place && { customSlug: place.slug, domain: place.domain || shared }),
  });
  const draft = kept.value;
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const set = kept.patch;
  const fields = error instanceof ApiError ? error.fields : [];
  const problem: Problems = (field) => fields.find((one) => one.field.split(/[.[]/)[0] === field)?.message;
  // The title of the page is no reason to open the other fields.
  const entered = requestOf(draft.title === draft.pageTitle ? { ...draft, title: '' } : draft);
  const more = Object.keys(entered).length > 1 || fields.some((f) => f.field !== 'originalUrl');

  const save = async () => {
    setBusy(true);
    try {
      const body = requestOf(draft);
      const link = await api.post('/api/urls', { body, ...(place?.within && { within: place.within }) });
      kept.discard();
      const short = bare(link.shortUrl);
      notify((await copied(link.shortUrl)) ? t('create.created', { link: short }) : t('create.ready', { link: short }));
      onCreated(link);
    } catch (failed) {
      setError(failed);
      requestAnimationFrame(() => document.querySelector<HTMLElement>('dialog [aria-invalid]')?.focus());
    }
    setBusy(false);
  };

  return (
    <Dialog title={place ? t('missing.newOn', { domain: place.host }) : t('create.title')} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void save();
        }}
      >
        {error !== undefined && fields.length === 0 && <Problem error={error} />}
        <Input
          label={t('create.destination')}
          hint={t('create.destinationHint')}
          problem={problem('originalUrl')}
          name="originalUrl"
          value={draft.originalUrl}
          inputmode="url"
          autocomplete="off"
          spellcheck={false}
          first
          onValue={(originalUrl) => set({ originalUrl })}
        />
        <Page
          address={draft.originalUrl}
          onTitle={(title) =>
            // What somebody has typed stays.
            (draft.title === '' || draft.title === draft.pageTitle) && set({ title, pageTitle: title })
          }
        />
        <details open={more}>
          <summary>{t('create.more')}</summary>
          <More draft={draft} place={place} set={set} problem={problem} />
        </details>
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" busy={busy}>
            {t('create.submit')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { go, query } from '../../route';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { copied } from '../../ui/copy';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { useWrongFocus } from '../../ui/form';
import { lazy } from '../../ui/lazy';
import { Problem } from '../../ui/problem';
import { notify } from '../../ui/toast';
import { differences, noFields, type Fields } from '../link/fields';
import { bare, complete, shared } from './changes';

export interface Draft extends Fields {
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

type Problems = (field: string) => string | undefined;

interface CreateProps {
  place?: Place | undefined;
  onClose: () => void;
  onCreated: (link: Schema<'URL'>) => void;
}

/** The fields that are always shown. */
const usual = /^(originalUrl|customSlug|domain|title|tags)/;

const Options = lazy(async () => (await import('../link/options')).Options, null);

/** What the address of the page asks for: another application has shared it. */
const asked = () => ({ originalUrl: query.value.get('url') ?? '', title: query.value.get('title') ?? '' });

/** The dialog for a new link: paste an address and press Enter. */
export function Create({ place, onClose, onCreated }: CreateProps) {
  const given = asked();
  // Each place and each shared address has a draft of its own.
  const kept = useDraft<Draft>(`link new ${place ? `${place.host}/${place.slug}` : given.originalUrl}`.trim(), {
    ...blank,
    ...given,
    ...(place && { customSlug: place.slug, domain: place.domain || shared }),
  });
  const draft = kept.value;
  const [error, setError] = useState<unknown>(undefined);
  useWrongFocus(error);
  const [busy, setBusy] = useState(false);
  const set = kept.patch;
  const fields = error instanceof ApiError ? error.fields : [];
  const problem: Problems = (field) => fields.find((one) => one.field.split(/[.[]/)[0] === field)?.message;
  const rare = differences(noFields, { ...draft, originalUrl: '', title: '', tags: [] });
  const more = Object.keys(rare).length > 0 || fields.some(({ field }) => !usual.test(field));

  const save = async () => {
    setBusy(true);
    try {
      const body = requestOf(draft);
      const link = await api.post('/api/urls', { body, ...(place?.within && { within: place.within }) });
      kept.discard();
      const short = bare(link.shortUrl);
      const text = (await copied(link.shortUrl))
        ? t('create.created', { link: short })
        : t('create.ready', { link: short });
      notify(text, () => go(`/links/${link.id}/qr`), t('qr.title'));
      onCreated(link);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };

  return (
    <Dialog
      title={place ? t('missing.newOn', { domain: place.host }) : t('create.title')}
      onClose={onClose}
      kind="newlink"
    >
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
        <Options draft={draft} place={place} set={set} problem={problem} more={more} />
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

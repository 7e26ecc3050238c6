// Everything about a new link but its destination, with what visitors will see beside it. It is loaded after the dialog is open.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { to } from '../../route';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { useLater } from '../../ui/later';
import { useResource } from '../../ui/resource';
import { encode, pathOf } from '../qr/encode';
import { bare, complete, shared } from '../links/changes';
import type { Draft, Place } from '../links/create';
import { Address } from './address';
import { Campaign } from './campaign';
import { More, Schedule, useOpen } from './form';
import { Preview, usePage } from './preview';
import { ideaOf } from './idea';
import { TagField } from './tags';

const compared = 100; // links, the most that the API returns at once

/** Says which links lead to the destination already. The API finds links that contain it; those with other endings do not count. */
function Duplicates({ address }: { address: string }) {
  const wanted = useLater(complete(address), 400);
  const valid = URL.canParse(wanted) && new URL(wanted).hostname.includes('.');
  const found = useResource(wanted, async (signal) => {
    if (!valid) return [];
    const { data } = await api.get('/api/urls', { query: { search: bare(wanted), pageSize: compared }, signal });
    return data.filter((one) => bare(one.originalUrl) === bare(wanted));
  });
  const [first] = found.data ?? [];
  const n = found.data?.length ?? 0;
  return (
    <p class="hint duplicates" role="status">
      {first && (
        <>
          {t('create.duplicates', { n })}{' '}
          <a href={n === 1 ? to(`/links/${first.id}`) : to(`/links?search=${encodeURIComponent(bare(wanted))}`)}>
            {n === 1 ? bare(first.shortUrl) : t('create.showDuplicates')}
          </a>
        </>
      )}
    </p>
  );
}

interface OptionsProps {
  draft: Draft;
  place: Place | undefined;
  set: (values: Partial<Draft>) => void;
  problem: (field: string) => string | undefined;
  /** Whether the rare options are shown. */
  more: boolean;
}

type Found = Schema<'SlugAvailability'>;

/** The short address as far as it is chosen. The server knows the host of the default domain. */
function shortOf({ customSlug, domain }: Draft, place: Place | undefined, found: Found | undefined): string {
  const told = found && bare(found.shortUrl).split('/')[0];
  const host = place?.host ?? told ?? (domain === '' || domain === shared ? location.host : domain);
  return `${host}/${customSlug.trim() || t('over.random')}`;
}

/** The QR code of a chosen address, as soon as it is known to be free. */
function CodeOf({ address }: { address: string }) {
  const code = address === '' ? undefined : encode(address);
  const size = (code?.length ?? 0) + 8;
  return (
    <>
      <h3>{t('qr.title')}</h3>
      {code ? (
        <svg
          class="nextcode"
          viewBox={`0 0 ${size} ${size}`}
          role="img"
          aria-label={t('qr.preview', { address: bare(address) })}
        >
          <path d={pathOf(code)} />
        </svg>
      ) : (
        <p class="hint">{t('create.codeLater')}</p>
      )}
    </>
  );
}

export function Options({ draft, place, set, problem, more }: OptionsProps) {
  const { data: page } = usePage(draft.originalUrl);
  const [found, setFound] = useState<Found>();
  const open = useOpen(more);
  const chosen = found?.status === 'FREE' && found.slug === draft.customSlug.trim() ? found.shortUrl : '';
  const take = useRef(set);
  take.current = set;
  const free = draft.title === '' || draft.title === draft.pageTitle; // what somebody has typed stays
  const title = page?.title ?? '';
  useEffect(() => {
    if (title !== '' && free) take.current({ title, pageTitle: title });
    // Only another page is a reason.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [title]);
  return (
    <>
      <Duplicates address={draft.originalUrl} />
      <div class="sides">
        <div class="linkform">
          <Address
            slug={draft.customSlug}
            idea={draft.originalUrl === '' ? '' : ideaOf(draft.title, complete(draft.originalUrl))}
            domain={draft.domain}
            fixed={place !== undefined}
            within={place?.within}
            onFound={setFound}
            set={set}
            problem={problem}
          />
          <Input
            label={t('create.linkTitle')}
            hint={t('create.titleHint')}
            problem={problem('title')}
            name="title"
            value={draft.title}
            onValue={(value) => set({ title: value })}
          />
          <TagField values={draft.tags} onValues={(tags) => set({ tags })} problem={problem('tags')} />
          <details open={open}>
            <summary>{t('create.more')}</summary>
            <Campaign fields={draft} set={set} problem={problem} />
            <Schedule fields={draft} set={set} problem={problem} />
            <More fields={draft} set={set} problem={problem} protectedNow={false} />
          </details>
        </div>
        <Preview
          fields={draft}
          short={shortOf(draft, place, found)}
          image=""
          isProtected={draft.password !== ''}
          page={page}
        >
          <CodeOf address={chosen} />
        </Preview>
      </div>
    </>
  );
}

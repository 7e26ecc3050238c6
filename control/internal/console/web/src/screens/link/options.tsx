// Everything about a new link but its destination, with what visitors will see beside it. It is loaded after the dialog is open.
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../../api/client';
import { to } from '../../route';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { useLater } from '../../ui/later';
import { useResource } from '../../ui/resource';
import { bare, complete, shared } from '../links/changes';
import type { Draft, Place } from '../links/create';
import { Address } from './address';
import { Campaign } from './campaign';
import { More, Schedule } from './form';
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

/** The short address as far as it is chosen. */
function shortOf({ customSlug, domain }: Draft, place: Place | undefined): string {
  const host = place?.host ?? (domain === '' || domain === shared ? location.host : domain);
  return `${host}/${customSlug.trim() || t('over.random')}`;
}

export function Options({ draft, place, set, problem, more }: OptionsProps) {
  const { data: page } = usePage(draft.originalUrl);
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
          <details open={more}>
            <summary>{t('create.more')}</summary>
            <Campaign fields={draft} set={set} problem={problem} />
            <Schedule fields={draft} set={set} problem={problem} />
            <More fields={draft} set={set} problem={problem} protectedNow={false} />
          </details>
        </div>
        <Preview
          fields={draft}
          short={shortOf(draft, place)}
          image=""
          isProtected={draft.password !== ''}
          page={page}
        />
      </div>
    </>
  );
}

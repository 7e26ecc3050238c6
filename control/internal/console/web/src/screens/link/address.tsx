// The short address of a new link: its domain and slug, and whether they are free.
import { useEffect } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { useLater } from '../../ui/later';
import { Picker } from '../../ui/picker';
import { useResource } from '../../ui/resource';
import { bare, shared } from '../links/changes';

/** The domains for links, the service's own first. */
export async function domains(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/domains', { query: { search: text, pageSize: 50 }, signal });
  const found = data.filter((one) => one.status === 'ACTIVE').map((one) => [one.hostname, one.displayName] as const);
  return text === '' ? [[shared, t('create.shared')] as const, ...found] : found;
}

interface StateProps {
  slug: string;
  /** A slug to offer while there is none. */
  idea: string;
  domain: string;
  within: string | undefined;
  onSlug: (slug: string) => void;
  onFound: ((answer: Schema<'SlugAvailability'>) => void) | undefined;
}

/** Whether the slug is free. Its line is always there, so that nothing moves when the answer arrives. */
function State({ slug, idea, domain, within, onSlug, onFound }: StateProps) {
  const asked = slug || idea;
  const wanted = useLater(asked);
  const found = useResource(`${wanted} ${domain}`, async (signal) =>
    // The API refuses longer slugs, and creating the link says so.
    wanted && wanted.length <= 50
      ? await api.get('/api/urls/slug', {
          query: { slug: wanted, ...(domain === shared ? { shared: true } : { domain }) },
          ...(within && { within }),
          signal,
        })
      : undefined,
  );
  const answer = found.data?.slug === asked ? found.data : undefined;
  const offer = slug === '' && answer?.status === 'FREE' ? idea : answer?.suggestion;
  useEffect(() => {
    if (answer) onFound?.(answer);
    // Only another answer is a reason.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [answer]);
  const link = answer ? bare(answer.shortUrl) : '';
  const says = answer && {
    FREE: () => t('create.slugFree', { link }),
    TAKEN: () => t('create.slugTaken', { link }),
    RESERVED: () => t('create.slugReserved', { link }),
    INVALID: () => t('create.slugInvalid'),
  };
  return (
    <div class={slug !== '' && answer?.status === 'FREE' ? 'slugstate free' : 'slugstate'}>
      <p class="hint" role="status">
        {slug === '' ? t('create.slugHint') : answer && says?.[answer.status]()}
      </p>
      {offer && (
        <button type="button" class="asLink" onClick={() => onSlug(offer)}>
          {t('create.slugUse', { slug: offer })}
        </button>
      )}
    </div>
  );
}

interface AddressProps {
  slug: string;
  /** A slug to offer, such as the words of the title. */
  idea?: string;
  domain: string;
  /** Whether the domain is given, and cannot be chosen. */
  fixed: boolean;
  /** Whether '' is no choice, because the domain has nothing to do with the default one. */
  explicit?: boolean;
  /** Another workspace than the chosen one. */
  within?: string | undefined;
  /** Called with what the server says about a slug or an idea. */
  onFound?: (answer: Schema<'SlugAvailability'>) => void;
  set: (values: { customSlug?: string; domain?: string }) => void;
  problem: (field: string) => string | undefined;
}

export function Address({ slug, idea = '', domain, fixed, explicit, within, onFound, set, problem }: AddressProps) {
  return (
    <>
      {!fixed && (
        <Picker
          label={t('links.domain')}
          name="domain"
          shown={domain === shared ? t('create.shared') : domain || t('domain.default')}
          {...(!explicit && { none: t('domain.default') })}
          find={domains}
          onPick={(next) => set({ domain: next })}
          problem={problem('domain')}
        />
      )}
      <div class="slugfield">
        <Input
          label={t('create.slug')}
          problem={problem('customSlug')}
          name="customSlug"
          value={slug}
          autocomplete="off"
          spellcheck={false}
          onValue={(customSlug) => set({ customSlug })}
        />
        <State
          slug={slug.trim()}
          idea={idea}
          domain={domain}
          within={within}
          onSlug={(customSlug) => set({ customSlug })}
          onFound={onFound}
        />
      </div>
    </>
  );
}

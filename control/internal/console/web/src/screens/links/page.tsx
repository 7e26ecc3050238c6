// What the destination of a new link says about itself.
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../../api/client';
import { t } from '../../text';
import { useLater } from '../../ui/later';
import { useResource } from '../../ui/resource';
import { bare, complete } from './changes';

const pause = 400; // milliseconds; the server asks another one

interface PageProps {
  address: string;
  /** Called with the title of the page, once for each page. */
  onTitle: (title: string) => void;
}

/** The title, image and description of the page, as soon as the server has read them. */
export function Page({ address, onTitle }: PageProps) {
  const wanted = useLater(complete(address), pause);
  const valid = URL.canParse(wanted) && new URL(wanted).hostname.includes('.');
  const found = useResource(wanted, async (signal) =>
    valid ? await api.get('/api/pages/preview', { query: { url: wanted }, signal }).catch(() => undefined) : undefined,
  );
  const page = found.data;
  const tell = useRef(onTitle);
  tell.current = onTitle;
  useEffect(() => {
    if (page?.title) tell.current(page.title);
  }, [page]);
  const busy = found.loading && valid;
  if (!busy && !page?.title && !page?.problem) return null;
  return (
    <div class={busy ? 'pagecard waiting' : 'pagecard'} role="status" aria-busy={busy}>
      {!busy && page?.image && <img alt="" src={`data:image/jpeg;base64,${page.image}`} />}
      {!busy && (
        <div>
          {page?.title && (
            <p class="name" dir="auto">
              {page.title}
            </p>
          )}
          <p class="hint" dir="auto">
            {page?.problem ? t('create.noPage') : page?.description || bare(page?.url ?? '')}
          </p>
        </div>
      )}
    </div>
  );
}

// What visitors and social networks will see of a link, while somebody types.
import './preview.css';
import type { ComponentChildren } from 'preact';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Icon } from '../../ui/icon';
import { useLater } from '../../ui/later';
import { useResource } from '../../ui/resource';
import { bare, complete } from '../links/changes';
import { withCampaign, type Fields } from './fields';

type Page = Schema<'PagePreview'>;

const pause = 400; // milliseconds; the server asks another one

/** What the page of a destination says about itself, which the server reads. */
export function usePage(address: string) {
  const wanted = useLater(complete(address), pause);
  const valid = URL.canParse(wanted) && new URL(wanted).hostname.includes('.');
  return useResource(wanted, async (signal) =>
    valid ? await api.get('/api/pages/preview', { query: { url: wanted }, signal }).catch(() => undefined) : undefined,
  );
}

interface CardProps {
  host: string;
  title: string;
  text: string;
  /** The address of the picture; '' without one. */
  picture: string;
  small: boolean;
}

/** About how networks show a link. Each has its own layout. */
export function SocialCard({ host, title, text, picture, small }: CardProps) {
  return (
    <figure class={small ? 'social small' : 'social'} aria-label={t('social.look')}>
      {picture && <img src={picture} alt="" />}
      <div>
        <p class="hint mono">{host}</p>
        <p class="strong" dir="auto">
          {title}
        </p>
        {text && <p dir="auto">{text}</p>}
      </div>
    </figure>
  );
}

/** The address of a picture of the API. */
export const pictureOf = (image: string | null | undefined): string =>
  image ? `/api/og-images/${encodeURIComponent(image)}` : '';

/** The card of a link with a preview of its own. */
export function OwnCard({ fields, short, image }: { fields: CardFields; short: string; image: string }) {
  const { ogTitle, ogDescription, twitterCardType, title } = fields;
  const small = twitterCardType === 'summary' || (twitterCardType === '' && image === '');
  return (
    <SocialCard
      host={short.split('/')[0] ?? ''}
      title={ogTitle || title || t('app.name')}
      text={ogDescription}
      picture={image}
      small={small}
    />
  );
}

type CardFields = Pick<Fields, 'ogTitle' | 'ogDescription' | 'twitterCardType' | 'title'>;

/** The card of a destination, which networks show for a link without a preview of its own. */
function TheirCard({ page }: { page: Page | undefined }) {
  return (
    <>
      <p class="hint" role="status">
        {page?.problem ? t('create.noPage') : t('over.theirs')}
      </p>
      {page?.title && (
        <SocialCard
          host={bare(page.url).split('/')[0] ?? ''}
          title={page.title}
          text={page.description}
          picture={page.image ? `data:image/jpeg;base64,${page.image}` : ''}
          small={!page.image}
        />
      )}
    </>
  );
}

/** Whether networks show a preview of the link's own. */
export const hasOwn = (fields: CardFields, image: string): boolean =>
  fields.ogTitle !== '' || fields.ogDescription !== '' || image !== '';

interface PreviewProps {
  fields: Fields;
  /** The short address without its scheme. */
  short: string;
  /** The address of the link's own picture; '' without one. */
  image: string;
  isProtected: boolean;
  /** What the destination says about itself, once it is known. */
  page: Page | undefined;
  children?: ComponentChildren;
}

/** The destination, of which the part that the campaign adds is set apart. */
function Target({ fields }: { fields: Fields }) {
  const plain = complete(fields.originalUrl);
  const whole = withCampaign(fields);
  let same = 0;
  while (same < whole.length && whole[same] === plain[same]) same++;
  return (
    <bdi class="mono" dir="ltr">
      {whole.slice(0, same)}
      {same < whole.length && <mark>{whole.slice(same)}</mark>}
    </bdi>
  );
}

/** The way of a visitor from the address bar to the destination, and the card in social networks. */
export function Preview({ fields, short, image, isProtected, page, children }: PreviewProps) {
  return (
    <aside class="linkpreview" aria-label={t('over.visitors')}>
      <h3>{t('over.visitors')}</h3>
      <ol class="way">
        <li>
          <bdi class="mono typed" dir="ltr">
            {short}
          </bdi>
        </li>
        {isProtected && (
          <li>
            <Icon name="lock" /> {t('over.asks')}
          </li>
        )}
        {fields.originalUrl !== '' && (
          <li>
            <span class="offscreen">{t('edit.preview')}</span> <Target fields={fields} />
          </li>
        )}
      </ol>
      {children}
      <h3>{t('social.title')}</h3>
      {hasOwn(fields, image) ? <OwnCard fields={fields} short={short} image={image} /> : <TheirCard page={page} />}
    </aside>
  );
}

// The beginning of the page of a link: its short address, what is done with it most, and whether it works.
import { useLayoutEffect } from 'preact/hooks';
import type { Schema } from '../../api/client';
import { to } from '../../route';
import { t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { copy } from '../../ui/copy';
import { Icon } from '../../ui/icon';
import { SiteIcon } from '../../ui/siteicon';
import { may } from '../../session';
import { bare, nameOf } from '../links/changes';
import { LinkActions } from './actions';
import { statementsOf } from './words';

interface HeadProps {
  link: Schema<'URL'>;
  /** As in `statementsOf`. */
  share: number | undefined;
  onEdit: () => void;
  onChanged: () => void;
  remove: () => Promise<void>;
}

/** A destination, which can be opened if it is a page and no phone number or application. */
export function Destination({ address }: { address: string }) {
  if (!/^https?:/i.test(address)) return <bdi dir="ltr">{address}</bdi>;
  return (
    <a href={address} rel="noreferrer" target="_blank" dir="ltr">
      {bare(address)}
    </a>
  );
}

export function LinkHead({ link, share, onEdit, onChanged, remove }: HeadProps) {
  const { id, shortUrl, originalUrl } = link;
  const short = bare(shortUrl);
  const name = nameOf(link);
  const open = t('edit.open', { link: short });
  const copies = () => void copy(shortUrl, t('links.copied', { link: short }));
  useLayoutEffect(() => {
    document.title = `${name} · ${t('app.name')}`;
  }, [name]);
  return (
    <header class="linkhead">
      <p class="trail">
        <a href={to('/links')}>{t('links.title')}</a>
      </p>
      <h1 tabIndex={-1}>
        <button type="button" class="address" title={t('links.copyOf', { link: short })} onClick={copies}>
          <bdi dir="ltr">{short}</bdi>
        </button>
      </h1>
      <div class="actions">
        <Button kind="primary" icon="copy" aria-label={t('links.copyOf', { link: short })} onClick={copies}>
          {t('action.copy')}
        </Button>
        {may('EDITOR') && (
          <Button icon="edit" aria-label={t('over.edit', { link: short })} onClick={onEdit}>
            {t('action.edit')}
          </Button>
        )}
        <a class="iconbutton" href={shortUrl} target="_blank" rel="noreferrer" aria-label={open} title={open}>
          <Icon name="external" />
        </a>
        <a class="iconbutton" href={to(`/links/${id}/qr`)} aria-label={t('qr.title')} title={t('qr.title')}>
          <Icon name="qr" />
        </a>
        <LinkActions link={link} onChanged={onChanged} remove={remove} />
      </div>
      <p class="leads">
        <SiteIcon of={originalUrl} />
        {link.title && <b dir="auto">{link.title}</b>}
        <span class="onto" aria-hidden="true" />
        <Destination address={originalUrl} />
      </p>
      <ul class="states">
        {statementsOf(link, share).map(({ tone, text }) => (
          <li key={text}>
            <Badge tone={tone}>{text}</Badge>
          </li>
        ))}
      </ul>
    </header>
  );
}

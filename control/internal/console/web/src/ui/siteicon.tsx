import { useState } from 'preact/hooks';
import { Icon } from './icon';

/** The icon of the site to which an address belongs. A globe stands for sites without one, or whose icon is still unknown. */
export function SiteIcon({ of: address }: { of: string }) {
  const [missing, setMissing] = useState('');
  // A phone number or an address of an application belongs to no site.
  const { origin } = /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : { origin: '' };
  // The addresses of all pages of a site are the same, so the browser asks once.
  return (
    <span class="siteicon">
      {origin === '' || missing === origin ? (
        <Icon name="globe" />
      ) : (
        <img
          alt=""
          width="20"
          height="20"
          src={`/api/pages/icon?${new URLSearchParams({ url: origin }).toString()}`}
          onError={() => setMissing(origin)}
        />
      )}
    </span>
  );
}

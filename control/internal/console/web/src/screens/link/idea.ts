// A slug that people can read, from what is known about a destination.

const least = 3; // characters, as the API wants them
const most = 30;

/** Words of a text as a slug; '' if it has too few letters that a slug can have. */
function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  if (/[^\x00-\x7f]/.test(plain.replace(/[^\p{L}]/gu, ''))) return ''; // another script: the rest would say something else
  let slug = '';
  for (const word of plain.match(/[a-z0-9]+/g) ?? []) {
    const next = slug === '' ? word : `${slug}-${word}`;
    if (next.length > most) break;
    slug = next;
  }
  return slug.length >= least ? slug : '';
}

/** A slug from the title, or else from the last part of the path, or the name of the site. */
export function ideaOf(title: string, address: string): string {
  const own = slugOf(title);
  if (own || !URL.canParse(address)) return own;
  const { pathname, hostname } = new URL(address);
  const last =
    pathname
      .split('/')
      .filter(Boolean)
      .at(-1)
      ?.replace(/\.\w+$/, '') ?? '';
  return slugOf(last) || slugOf(hostname.replace(/^www\./, '').split('.')[0] ?? '');
}

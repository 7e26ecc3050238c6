// The messages of the console in English, from which all other languages are translated. Words in braces are replaced. A
// message with a number has a form for each plural category of the language (Intl.PluralRules) and takes the number as n.
import { app } from './app';
import { imports } from './imports';
import { links } from './links';
import { live } from './live';
import { link } from './link';
import { rules } from './rules';
import { palette } from './palette';
import { qr } from './qr';
import { report } from './report';

export const en = { ...app, ...links, ...live, ...palette, ...qr, ...report, ...imports, ...link, ...rules } as const;

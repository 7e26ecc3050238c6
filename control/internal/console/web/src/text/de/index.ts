import type { Catalogue } from '../message';
import { app } from './app';
import { imports } from './imports';
import { links } from './links';
import { live } from './live';
import { link } from './link';
import { rules } from './rules';
import { palette } from './palette';
import { qr } from './qr';
import { report } from './report';

export const de: Catalogue = { ...app, ...links, ...live, ...palette, ...qr, ...report, ...imports, ...link, ...rules };

import type { Catalogue } from '../message';
import { app } from './app';
import { imports } from './imports';
import { links } from './links';
import { palette } from './palette';
import { report } from './report';

export const ar: Catalogue = { ...app, ...links, ...palette, ...report, ...imports };

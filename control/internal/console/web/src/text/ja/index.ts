import type { Catalogue } from '../message';
import { app } from './app';
import { links } from './links';
import { palette } from './palette';
import { report } from './report';

export const ja: Catalogue = { ...app, ...links, ...palette, ...report };

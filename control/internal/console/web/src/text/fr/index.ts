import type { Catalogue } from '../message';
import { app } from './app';
import { links } from './links';

export const fr: Catalogue = { ...app, ...links };

import { only } from './messages';

export const de = only('de');

import { only } from './messages';

export const en = only('en');

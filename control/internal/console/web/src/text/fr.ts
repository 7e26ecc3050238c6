import { only } from './messages';

export const fr = only('fr');

import { only } from './messages';

export const ar = only('ar');

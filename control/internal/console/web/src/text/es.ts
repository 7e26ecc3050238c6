import { only } from './messages';

export const es = only('es');

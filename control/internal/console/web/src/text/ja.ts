import { only } from './messages';

export const ja = only('ja');

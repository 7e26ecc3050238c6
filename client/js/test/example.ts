import { Shortline } from '@shortline/client';
export const x = new Shortline({ url: 'x' });

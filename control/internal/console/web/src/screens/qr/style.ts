import type { Style } from './code';

/** The look of a code that nobody has changed. */
export const usual: Style = {
  color: '#000000',
  background: '#ffffff',
  shape: 'square',
  level: 'M',
  margin: 4,
  width: 300,
};

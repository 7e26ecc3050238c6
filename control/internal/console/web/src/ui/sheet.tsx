import type { ComponentProps } from 'preact';
import { Dialog } from './dialog';

/** A dialog at the side of the page, for long forms. */
export const Sheet = (props: Omit<ComponentProps<typeof Dialog>, 'kind'>) => <Dialog {...props} kind="sidesheet" />;

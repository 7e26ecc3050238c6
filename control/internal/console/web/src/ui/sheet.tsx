import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog';
import './sheet.css';

interface SheetProps {
  title: string;
  /** Called when the user wants to leave. The caller removes the sheet. */
  onClose: () => void;
  /** A form, or `<div class="body">`. A footer at its end stays in sight. */
  children: ComponentChildren;
  /** For a form with a preview beside it. */
  wide?: boolean;
}

/** A dialog at the side of the page, over the whole page on a phone. It keeps the place where somebody was in sight. */
export function Sheet({ title, onClose, children, wide = false }: SheetProps) {
  return (
    <Dialog title={title} onClose={onClose} kind={wide ? 'sidesheet wide' : 'sidesheet'}>
      {children}
    </Dialog>
  );
}

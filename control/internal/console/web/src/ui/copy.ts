import { t } from '../text';
import { notify } from './toast';

/** Copies a text without telling. It resolves to false if the browser does not allow it. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a text and tells whether it worked. */
export async function copy(text: string, done = t('action.copied')): Promise<void> {
  notify((await copied(text)) ? done : t('action.copyFailed'));
}

import { useId } from 'preact/hooks';
import { t } from '../text';
import { Button } from './button';
import { copy } from './copy';

/** A secret or an address that is shown to be copied, such as a new key. */
export function Secret({ label, value }: { label: string; value: string }) {
  const id = useId();
  return (
    <div class="field secret">
      <label for={id}>{label}</label>
      <div>
        <input id={id} class="mono" readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
        <Button icon="copy" onClick={() => void copy(value)}>
          {t('action.copy')}
        </Button>
      </div>
    </div>
  );
}

import { t } from '../text';
import { Input } from './field';

interface NameFieldProps {
  /** What the name is called; “Name” by default. */
  label?: string;
  hint?: string | undefined;
  value: string;
  onValue: (value: string) => void;
  problem: string | undefined;
  /** Whether the field gets the focus when its dialog opens, as it does if nothing is said. */
  first?: boolean;
}

/** The field for the name of what a form creates or changes. */
export function NameField(props: NameFieldProps) {
  return <Input label={t('labels.name')} name="name" autocomplete="off" first {...props} />;
}

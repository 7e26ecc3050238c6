import { t } from '../text';
import { Input } from './field';

/** The time zone of the browser. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

interface ZoneFieldProps {
  name: string;
  value: string;
  onValue: (value: string) => void;
  problem: string | undefined;
}

/** A field for a time zone of the IANA database. */
export function ZoneField(props: ZoneFieldProps) {
  return (
    <Input
      label={t('report.timezone')}
      options={Intl.supportedValuesOf('timeZone')}
      autocomplete="off"
      spellcheck={false}
      {...props}
    />
  );
}

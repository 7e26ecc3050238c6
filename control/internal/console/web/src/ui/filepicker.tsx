// A field for a file: a button, a place to drop the file, and what was chosen.
import { useId, useRef, useState } from 'preact/hooks';
import { language, t } from '../text';
import { IconButton } from './button';
import { described, Frame, type Common } from './field';
import { Icon } from './icon';
import './filepicker.css';

interface FilePickerProps extends Common {
  name?: string;
  /** As the attribute of the same name: endings and media types, separated by commas. */
  accept: string;
  /** What was chosen. A caller that takes the content at once and keeps no file leaves it out. */
  file?: Pick<File, 'name' | 'size'> | undefined;
  /** Called with the file, or with nothing if it was removed. */
  onFile: (file: File | undefined) => void;
  /** Whether the file is being sent. */
  busy?: boolean;
  /** The text of the button. */
  action?: string;
  /** What the file is for, if the label does not say it; it is read out with the button. */
  of?: string;
}

/** Whether a file is of a kind that a field takes. Systems know no media type of some endings. */
export function accepts(accept: string, { name, type }: Pick<File, 'name' | 'type'>): boolean {
  return accept.split(',').some((one) => {
    const kind = one.trim().toLowerCase();
    if (kind.startsWith('.')) return name.toLowerCase().endsWith(kind);
    return kind.endsWith('/*') ? type.startsWith(kind.slice(0, -1)) : type === kind;
  });
}

/** A size in bytes, kilobytes or megabytes. */
export function size(bytes: number): string {
  const unit = bytes < 1000 ? 'byte' : bytes < 1e6 ? 'kilobyte' : 'megabyte';
  const by = { byte: 1, kilobyte: 1e3, megabyte: 1e6 }[unit];
  const options = { style: 'unit', unit, maximumFractionDigits: bytes < 1e4 ? 1 : 0 } as const;
  return new Intl.NumberFormat(language.value, options).format(bytes / by);
}

/** A field for a file. */
export function FilePicker(props: FilePickerProps) {
  const { label, hint, problem, name, accept, file, onFile, busy = false, action, of = label } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [over, setOver] = useState(false);
  const [wrong, setWrong] = useState(false);
  const common = { label, hint, problem: wrong ? t('file.kind') : problem };
  const text = action ?? (file ? t('file.replace') : t('file.choose'));
  const take = (next: File | undefined) => {
    if (!next || busy) return;
    const fits = accepts(accept, next);
    setWrong(!fits);
    if (fits) onFile(next);
  };
  return (
    <Frame id={id} {...common}>
      <div
        class={over ? 'filepicker over' : 'filepicker'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={(event) => event.currentTarget.contains(event.relatedTarget as Node | null) || setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          take(event.dataTransfer?.files[0]);
        }}
      >
        <input
          ref={input}
          class="offscreen"
          type="file"
          name={name}
          accept={accept}
          tabIndex={-1}
          aria-hidden="true"
          onChange={(event) => {
            take(event.currentTarget.files?.[0]);
            event.currentTarget.value = ''; // so that the same file can be chosen again
          }}
        />
        {file && (
          <p class="file">
            <Icon name="file" />
            <bdi>{file.name}</bdi> <span class="hint">{size(file.size)}</span>
            <IconButton
              icon="close"
              label={t('chips.remove', { value: file.name })}
              onClick={() => {
                button.current?.focus();
                onFile(undefined);
              }}
            />
          </p>
        )}
        <button
          ref={button}
          id={id}
          type="button"
          class="button"
          aria-label={`${text}: ${of}`}
          aria-busy={busy}
          aria-invalid={common.problem ? 'true' : undefined}
          aria-describedby={described(id, common)}
          onClick={() => busy || input.current?.click()}
        >
          <Icon name="import" />
          {text}
        </button>
        {!file && <span class="hint dropnote">{t('file.drop')}</span>}
      </div>
    </Frame>
  );
}

// The state of a thing in a word, and values that filter a list.
import type { ComponentChildren } from 'preact';
import { t } from '../text';
import { Icon, type IconName } from './icon';

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'neutral';

const usual: Partial<Record<Tone, IconName>> = { good: 'check', warn: 'warning', bad: 'problem' };

interface BadgeProps {
  tone?: Tone;
  /** The icon instead of the one of the tone. Colour alone never says a state. */
  icon?: IconName;
  /** What the state means, as a tooltip. It must not be the only place that says it. */
  title?: string | undefined;
  children: ComponentChildren;
}

/** A state. */
export function Badge({ tone = 'neutral', icon = usual[tone], title, children }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

interface ChipProps {
  /** What the value is about, such as Country. */
  name?: string;
  /** The value as people read it. */
  text: string;
  onRemove: () => void;
}

/** A value that filters what is shown, with a way to remove it. */
export function Chip({ name, text, onRemove }: ChipProps) {
  return (
    <span class="chip">
      {name && <span class="hint">{name}</span>}
      <bdi>{text}</bdi>
      <button
        type="button"
        aria-label={t('chips.remove', { value: name ? `${name} ${text}` : text })}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}

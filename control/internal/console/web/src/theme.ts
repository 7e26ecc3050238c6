// The theme: light, dark or high contrast, chosen by the user or by the system.
import { effect, signal } from '@preact/signals';

export const themes = ['auto', 'light', 'dark', 'contrast'] as const;

export type Theme = (typeof themes)[number];

const stored = 'shortline.theme';
const saved = localStorage.getItem(stored);

/** What the user chose. Assign to change it. */
export const theme = signal<Theme>(themes.find((one) => one === saved) ?? 'auto');

const dark = matchMedia('(prefers-color-scheme: dark)');
const contrast = matchMedia('(prefers-contrast: more)');

function show(): void {
  const system = contrast.matches ? 'contrast' : dark.matches ? 'dark' : 'light';
  document.documentElement.dataset['theme'] = theme.value === 'auto' ? system : theme.value;
}

effect(() => {
  show();
  localStorage.setItem(stored, theme.value);
});
dark.addEventListener('change', show);
contrast.addEventListener('change', show);

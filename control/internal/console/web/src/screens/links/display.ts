// How the list of links is drawn: its columns and how dense it is. Each user has a choice of their own in this browser.
import { computed, signal } from '@preact/signals';
import { user } from '../../session';

/** What a row can show beside the short address and the name of the link. */
export const columns = ['target', 'tags', 'bundles', 'campaign', 'creator', 'created', 'trend', 'clicks'] as const;

export type Column = (typeof columns)[number];

export interface Display {
  /** One line for each link instead of two. */
  compact: boolean;
  hidden: readonly Column[];
}

const name = () => `shortline.list ${user.value?.id ?? ''}`;

/** Counts the changes, because the browser tells no other way that its storage has changed. */
const changes = signal(0);

function read(): Display {
  try {
    const { compact, hidden } = JSON.parse(localStorage.getItem(name()) ?? '') as Partial<Display>;
    return { compact: compact === true, hidden: columns.filter((one) => hidden?.includes(one)) };
  } catch {
    return { compact: false, hidden: [] };
  }
}

/** The choice of the user. */
export const display = computed(() => ({ ...read(), turn: changes.value }));

export function setDisplay(next: Display): void {
  localStorage.setItem(name(), JSON.stringify(next));
  changes.value++;
}

/** The height of a row in rem. */
export const rowHeight = computed(() => (display.value.compact ? 2.5 : 4));

/** Whether the list shows a column. */
export const shows = (column: Column): boolean => !display.value.hidden.includes(column);

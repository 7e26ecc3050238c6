// Icons of Lucide (https://lucide.dev, ISC licence). Only those that are imported here become part of the console.
import { h } from 'preact';
import {
  ArrowLeft,
  Check,
  ChevronDown,
  Copy,
  ChevronUp,
  FlaskConical,
  Globe,
  GripVertical,
  KeyRound,
  Link2,
  LockKeyhole,
  LogOut,
  Menu,
  Pause,
  Pencil,
  Play,
  Plus,
  Search,
  SunMoon,
  Trash2,
  TriangleAlert,
  UserRound,
  Waypoints,
  X,
} from 'lucide';

const icons = {
  back: ArrowLeft,
  check: Check,
  close: X,
  copy: Copy,
  down: ChevronDown,
  drag: GripVertical,
  edit: Pencil,
  experiment: FlaskConical,
  globe: Globe,
  key: KeyRound,
  link: Link2,
  lock: LockKeyhole,
  menu: Menu,
  pause: Pause,
  play: Play,
  plus: Plus,
  rules: Waypoints,
  search: Search,
  signOut: LogOut,
  theme: SunMoon,
  trash: Trash2,
  up: ChevronUp,
  user: UserRound,
  warning: TriangleAlert,
} as const;

export type IconName = keyof typeof icons;

/** Icons that point to a side and are mirrored in scripts from right to left. */
const turning = new Set<IconName>(['back', 'signOut']);

/** An icon. With `label` it is read out; without, it decorates a text and is hidden from screen readers. */
export function Icon({ name, label }: { name: IconName; label?: string }) {
  const shapes = icons[name].map(([tag, attributes]) => h(tag, attributes as Record<string, string>));
  const classes = turning.has(name) ? 'icon turns' : 'icon';
  if (!label) return h('svg', { class: classes, viewBox: '0 0 24 24', 'aria-hidden': 'true' }, shapes);
  return h(
    'svg',
    { class: classes, viewBox: '0 0 24 24', role: 'img', 'aria-label': label },
    h('title', null, label),
    shapes,
  );
}

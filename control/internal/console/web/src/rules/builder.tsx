// The visual builder for the conditions of a rule.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text';
import { Button, IconButton } from '../ui/button';
import { Icon } from '../ui/icon';
import { memo } from '../ui/memo';
import { dragging, startDrag, type Drop } from './drag';
import {
  count,
  group,
  insert,
  maxConditions,
  move,
  place,
  remove,
  step,
  update,
  type Condition,
  type Group,
  type Part,
} from './model';
import { compareBy, create, isType, typeKey, types, type TypeName } from './types';
import { Value } from './values';

/** Changes the tree. */
export type Change = (change: (root: Group) => Group) => void;

interface PartProps<P extends Part> {
  part: P;
  change: Change;
  /** The problems of parts by their id. */
  problems: ReadonlyMap<number, string>;
}

/** Moves the part with the keyboard; the builder then gives the focus back to the handle. */
function Handle({ id, change }: { id: number; change: Change }) {
  const drop = (to: Drop) => change((root) => move(root, to.part, to.into, to.at));
  const press = (event: KeyboardEvent) => {
    const direction = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined;
    if (direction === undefined) return;
    event.preventDefault();
    change((root) => step(root, id, direction));
  };
  return (
    <button
      type="button"
      class="handle"
      data-handle={id}
      aria-label={t('rules.drag')}
      title={t('rules.drag')}
      onKeyDown={press}
      onPointerDown={(event) => startDrag(event, id, drop)}
    >
      <Icon name="drag" />
    </button>
  );
}

const unders = ['visitor', 'place', 'source', 'time'] as const;

function TypePicker({ value, onValue }: { value: string; onValue: (type: TypeName) => void }) {
  const names = Object.keys(types) as TypeName[];
  return (
    <select
      aria-label={t('rules.kind')}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value as TypeName)}
    >
      {!isType(value) && <option value={value}>{value}</option>}
      {unders.map((under) => (
        <optgroup key={under} label={t(`rule.group.${under}`)}>
          {names
            .filter((name) => types[name].under === under)
            .map((name) => (
              <option key={name} value={name}>
                {t(typeKey(name))}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}

const ConditionRow = memo(function ConditionRow({ part, change, problems }: PartProps<Condition>) {
  const set = (next: Condition) => change((root) => update(root, part.id, () => next));
  const operators: readonly string[] = isType(part.type) ? types[part.type].operators : [part.operator];
  const problem = problems.get(part.id);
  return (
    <div class={problem ? 'condition wrong' : 'condition'}>
      <Handle id={part.id} change={change} />
      <div class="question">
        <TypePicker value={part.type} onValue={(type) => set({ ...create(type), id: part.id })} />
        {operators.length > 1 && (
          <select
            aria-label={t('rules.operator')}
            value={part.operator}
            onChange={(event) => set(compareBy(part, event.currentTarget.value))}
          >
            {operators.map((one) => (
              <option key={one} value={one}>
                {t(`op.${one as 'equals'}`)}
              </option>
            ))}
          </select>
        )}
        <Value condition={part} onValue={(value) => set({ ...part, value })} />
      </div>
      <IconButton
        icon="trash"
        label={t('rules.removeCondition')}
        onClick={() => change((root) => remove(root, part.id))}
      />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
});

/** A line where the dragged part would go. */
function Mark({ into, at }: { into: number; at: number }) {
  const drop = dragging.value;
  return drop?.into === into && drop.at === at ? <li class="mark" aria-hidden="true" /> : null;
}

const GroupBox = memo(function GroupBox({ part, change, problems, top = false }: PartProps<Group> & { top?: boolean }) {
  const add = (one: Part) =>
    change((root) => (count(root) < maxConditions ? insert(root, part.id, part.parts.length, one) : root));
  const combine = (operator: 'AND' | 'OR') => change((root) => update(root, part.id, (own) => ({ ...own, operator })));
  const problem = problems.get(part.id);
  return (
    <div class={top ? 'group top' : 'group'}>
      <div class="combine">
        {!top && <Handle id={part.id} change={change} />}
        <select
          aria-label={t('rules.conditions')}
          value={part.operator}
          onChange={(event) => combine(event.currentTarget.value as 'AND' | 'OR')}
        >
          <option value="AND">{t('rules.all')}</option>
          <option value="OR">{t('rules.any')}</option>
        </select>
        {!top && (
          <IconButton
            icon="trash"
            label={t('rules.removeGroup')}
            onClick={() => change((root) => remove(root, part.id))}
          />
        )}
      </div>
      <ul data-group={part.id}>
        {part.parts.map((one, at) => (
          <li key={one.id} data-part={one.id} class={dragging.value?.part === one.id ? 'dragged' : undefined}>
            <Mark into={part.id} at={at} />
            {at > 0 && <span class="joint">{part.operator === 'AND' ? t('rules.and') : t('rules.or')}</span>}
            {one.kind === 'group' ? (
              <GroupBox part={one} change={change} problems={problems} />
            ) : (
              <ConditionRow part={one} change={change} problems={problems} />
            )}
          </li>
        ))}
        <Mark into={part.id} at={part.parts.length} />
      </ul>
      {top && part.parts.length === 0 && <p class="hint">{t('rules.noCondition')}</p>}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="adds">
        <Button kind="quiet" icon="plus" onClick={() => add(create('device'))}>
          {t('rules.addCondition')}
        </Button>
        <Button kind="quiet" icon="plus" onClick={() => add(group('OR', [create('device')]))}>
          {t('rules.addGroup')}
        </Button>
      </div>
    </div>
  );
});

interface BuilderProps {
  root: Group;
  onChange: (root: Group) => void;
  problems: ReadonlyMap<number, string>;
}

/** The tree of conditions with mouse, touch and keyboard dragging, undo and redo. */
export function Builder({ root, onChange, problems }: BuilderProps) {
  const [past, setPast] = useState<Group[]>([]);
  const [future, setFuture] = useState<Group[]>([]);
  const [moved, setMoved] = useState('');
  const now = useRef({ root, onChange });
  now.current = { root, onChange };
  const box = useRef<HTMLDivElement>(null);
  const focused = useRef('');

  const change = useCallback<Change>((edit) => {
    const before = now.current.root;
    const after = edit(before);
    if (after === before) return;
    focused.current =
      document.activeElement instanceof HTMLElement ? (document.activeElement.dataset['handle'] ?? '') : '';
    const at = focused.current ? place(after, Number(focused.current)) : undefined;
    setMoved(at ? t('rules.moved', { at: at.at + 1, count: at.in.parts.length }) : '');
    setPast((list) => [...list.slice(-99), before]);
    setFuture([]);
    now.current.onChange(after);
  }, []);

  // A part that moves into another group is drawn anew there, so its handle loses the focus.
  useEffect(() => {
    if (focused.current) box.current?.querySelector<HTMLElement>(`[data-handle="${focused.current}"]`)?.focus();
  }, [root]);

  const travel = (from: Group[], setFrom: (list: Group[]) => void, to: Group[], setTo: (list: Group[]) => void) => {
    const next = from.at(-1);
    if (!next) return;
    setFrom(from.slice(0, -1));
    setTo([...to, root]);
    onChange(next);
  };
  return (
    <div class="builder" ref={box}>
      <GroupBox part={root} change={change} problems={problems} top />
      <p class="offscreen" role="status">
        {moved}
      </p>
      <div class="steps">
        <Button kind="quiet" disabled={past.length === 0} onClick={() => travel(past, setPast, future, setFuture)}>
          {t('action.undo')}
        </Button>
        <Button kind="quiet" disabled={future.length === 0} onClick={() => travel(future, setFuture, past, setPast)}>
          {t('rules.redo')}
        </Button>
      </div>
    </div>
  );
}

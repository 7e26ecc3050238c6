import { useEffect, useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { may } from '../../session';
import { parse } from '../../rules/model';
import { sends } from '../../rules/sentence';
import { t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { Menu } from '../../ui/menu';
import { Heading, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { LinkTabs } from '../link/tabs';
import { bare, nameOf } from '../links/changes';
import { inOrder } from './copied';
import { CopyRules } from './copy';
import { RuleForm } from './form';
import { mainCountry, Reach, useReach, type Reached } from './reach';
import { startOf, Starts, type Start } from './starts';
import { TryOut } from './tryout';

type Rule = Schema<'RoutingRule'>;

interface RowProps {
  rule: Rule;
  reached: Reached | undefined;
  first: boolean;
  last: boolean;
  onEdit: () => void;
  onMove: (direction: -1 | 1) => void;
  onCopy: () => void;
  onChanged: () => void;
}

function RuleRow({ rule, reached, first, last, onEdit, onMove, onCopy, onChanged }: RowProps) {
  const { id, urlId, name } = rule;
  const path = { id: urlId, ruleId: id };
  const figures = reached?.rules.find((one) => one.ruleId === id);
  const remove = async () => {
    await api.delete('/api/urls/{id}/routing-rules/{ruleId}', { path });
    const { targetUrl, conditions, priority, isActive } = rule;
    const again = () =>
      api.post('/api/urls/{id}/routing-rules', {
        path: { id: urlId },
        body: { name, targetUrl, conditions, priority, isActive },
      });
    notify(t('rules.deleted', { name }), () => void again().then(onChanged, complain));
    onChanged();
  };
  const toggle = async () => {
    await api.put('/api/urls/{id}/routing-rules/{ruleId}', { path, body: { isActive: !rule.isActive } });
    onChanged();
  };
  return (
    <li class={rule.isActive ? 'rule' : 'rule off'}>
      <div class="what">
        <p class="name">
          <b dir="auto">{name}</b>
          {!figures && <span class="hint">{t('rules.matched', { n: rule.matchCount })}</span>}
        </p>
        <p>{sends(parse(rule.conditions), bare(rule.targetUrl))}</p>
      </div>
      {figures && reached && (
        <Reach part={figures.matchPercentage} clicks={figures.matchCount} of={reached.totalClicks} />
      )}
      {may('EDITOR') && (
        <div class="tools">
          <label class="activity">
            <input
              type="checkbox"
              role="switch"
              checked={rule.isActive}
              onChange={() => void toggle().catch(complain)}
            />
            {rule.isActive ? t('rules.active') : t('rules.off')}
          </label>
          <IconButton icon="edit" label={t('labels.editOne', { name })} onClick={onEdit} />
          <Menu
            label={t('rules.actions', { name })}
            items={[
              {
                icon: 'up',
                text: t('rules.up', { name }),
                onPick: () => onMove(-1),
                disabled: first && t('rules.isFirst'),
              },
              {
                icon: 'down',
                text: t('rules.down', { name }),
                onPick: () => onMove(1),
                disabled: last && t('rules.isLast'),
              },
              { icon: 'copy', text: t('copies.open'), onPick: onCopy },
              'line',
              {
                icon: 'trash',
                text: t('labels.deleteOne', { name }),
                onPick: () => void remove().catch(complain),
                danger: true,
              },
            ]}
          />
        </div>
      )}
    </li>
  );
}

function Off({ id, onChanged }: { id: string; onChanged: () => void }) {
  const enable = () =>
    api
      .patch('/api/urls/{id}/routing-rules/settings', { path: { id }, body: { isSmartRouting: true } })
      .then(onChanged, complain);
  return (
    <div class="notice warn">
      <Icon name="warning" />
      <p>{t('rules.disabled')}</p>
      {may('EDITOR') && <Button onClick={() => void enable()}>{t('rules.enable')}</Button>}
    </div>
  );
}

/** Reads a rule alone, with its version, so that a change by somebody else is noticed. */
const read = (id: string, ruleId: string) => api.get('/api/urls/{id}/routing-rules/{ruleId}', { path: { id, ruleId } });

/** What the form shows: a rule of the link, or a new one. */
interface Editing {
  rule: Rule | undefined;
  start?: Start | undefined;
  startName?: string;
}

/**
 * What is edited, and the way to something else. It is in the address: 'new', and with what that begins; or the id of a rule. Without
 * one there is no form.
 */
function useEditing(
  id: string,
  reached: Reached | undefined,
): [Editing | undefined, (one: string, from?: string) => void] {
  const [editing, setEditing] = useState<Editing>();
  const asked = may('EDITOR') ? (query.value.get('edit') ?? '') : '';
  const from = asked === 'new' ? (query.value.get('from') ?? '') : '';
  useEffect(() => {
    const begin = (start?: Start) => setEditing({ rule: undefined, start, startName: from });
    let late = false;
    const later = <T,>(one: Promise<T>, then: (value: T) => void) =>
      void one.then((value) => !late && then(value), complain);
    setEditing(undefined);
    if (from !== '') later(startOf(from, mainCountry(reached)), begin);
    else if (asked === 'new') begin();
    else if (asked !== '') later(read(id, asked), (rule) => setEditing({ rule }));
    return () => void (late = true);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- figures that arrive later change no rule that has begun
  }, [id, asked, from]);
  return [editing, (edit, begin = '') => search({ edit, from: begin }, { step: edit !== '' })];
}

/** What rules are for, as long as there are none. */
const Nothing = () => (
  <div class="empty brief">
    <h2>{t('rules.empty')}</h2>
    <p>{t('rules.emptyHint')}</p>
  </div>
);

/** Where visitors go whom no rule sends elsewhere. */
function Rest({ link, reached }: { link: Schema<'URL'>; reached: Reached | undefined }) {
  const to = bare(link.defaultUrl ?? link.originalUrl);
  return (
    <li class="rule rest">
      <div class="what">
        <p class="name">
          <b>{t('rules.rest')}</b>
        </p>
        <p>{t(link.isABTesting ? 'rules.restTest' : 'rules.restGo', { destination: to })}</p>
      </div>
      {reached && (
        <Reach
          part={Math.round((100 - reached.matchRate) * 10) / 10}
          clicks={reached.totalClicks - reached.totalMatches}
          of={reached.totalClicks}
        />
      )}
    </li>
  );
}

interface HeadProps {
  link: Schema<'URL'>;
  /** Undefined while a form is open. */
  onAdd: (() => void) | undefined;
  /** Undefined if there are no rules. */
  onCopy: (() => void) | undefined;
}

/** The title, and what can be done with all rules. */
function Head({ link, onAdd, onCopy }: HeadProps) {
  return (
    <header class="head">
      <p class="trail">
        <a href={to('/links')}>{t('links.title')}</a>
      </p>
      <Heading title={t('rules.title', { link: nameOf(link) })} />
      {may('EDITOR') && onAdd && (
        <div class="actions">
          {onCopy && (
            <Button icon="copy" onClick={onCopy}>
              {t('copies.open')}
            </Button>
          )}
          <Button kind="primary" icon="plus" data-shortcut="c" onClick={onAdd}>
            {t('rules.add')}
          </Button>
        </div>
      )}
    </header>
  );
}

/** The routing rules of a link, in the order in which they are asked. */
export function Rules({ id }: { id: string }) {
  const link = useResource(`link ${id}`, (signal) => api.get('/api/urls/{id}', { path: { id }, signal }));
  const list = useResource(`rules ${id}`, (signal) =>
    api.get('/api/urls/{id}/routing-rules', { path: { id }, signal }),
  );
  const reached = useReach(id);
  const [editing, edit] = useEditing(id, reached);
  const [copying, setCopying] = useState<readonly Rule[]>();
  const reload = () => {
    link.reload();
    list.reload();
  };
  const error = link.error ?? list.error;
  if (error !== undefined || !link.data || !list.data) return <Waiting of={{ error, reload }} />;

  const rules = inOrder(list.data.rules);
  const highest = rules[0]?.priority ?? 0;
  const swap = async (at: number, direction: -1 | 1) => {
    const order = rules.toSpliced(at, 1).toSpliced(at + direction, 0, ...rules.slice(at, at + 1));
    for (const [position, rule] of order.entries()) {
      const priority = order.length - position;
      if (rule.priority === priority) continue;
      await api.put('/api/urls/{id}/routing-rules/{ruleId}', { path: { id, ruleId: rule.id }, body: { priority } });
    }
    notify(t('rules.ordered'));
    list.reload();
  };

  return (
    <>
      <Head
        link={link.data}
        onAdd={editing ? undefined : () => edit('new')}
        onCopy={rules.length > 0 ? () => setCopying(rules) : undefined}
      />
      <LinkTabs id={id} here="/rules" />
      <p class="hint lead">{t('rules.hint', { destination: bare(link.data.originalUrl) })}</p>
      {!link.data.isSmartRouting && rules.length > 0 && <Off id={id} onChanged={reload} />}
      {editing !== undefined && (
        <RuleForm
          key={editing.rule?.id ?? `new${editing.startName ?? ''}`}
          link={id}
          {...editing}
          rules={rules}
          priority={highest + 1}
          onCancel={() => edit('')}
          onSaved={(rule) => {
            edit('');
            notify(t('rules.saved', { name: rule.name }));
            reload();
          }}
        />
      )}
      {rules.length === 0 && editing === undefined && <Nothing />}
      {may('EDITOR') && editing === undefined && (
        <Starts open={rules.length === 0} onStart={(name) => edit('new', name)} />
      )}
      <ol class="rules" aria-label={t('rules.short')}>
        {rules.map((rule, at) => (
          <RuleRow
            key={rule.id}
            rule={rule}
            reached={reached}
            first={at === 0}
            last={at === rules.length - 1}
            onEdit={() => edit(rule.id)}
            onCopy={() => setCopying([rule])}
            onMove={(direction) => void swap(at, direction).catch(complain)}
            onChanged={list.reload}
          />
        ))}
        {rules.length > 0 && <Rest link={link.data} reached={reached} />}
      </ol>
      {rules.length > 0 && editing === undefined && <TryOut link={id} saved={[rules, link.data.isSmartRouting]} />}
      {copying && <CopyRules from={id} rules={copying} onClose={() => setCopying(undefined)} />}
    </>
  );
}

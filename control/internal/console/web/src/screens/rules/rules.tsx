import { useEffect, useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { may } from '../../session';
import { parse } from '../../rules/model';
import { sends } from '../../rules/sentence';
import { t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { Heading, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { LinkTabs } from '../link/tabs';
import { bare, nameOf } from '../links/changes';
import { RuleForm } from './form';
import { TryOut } from './tryout';

type Rule = Schema<'RoutingRule'>;

interface RowProps {
  rule: Rule;
  first: boolean;
  last: boolean;
  onEdit: () => void;
  onMove: (direction: -1 | 1) => void;
  onChanged: () => void;
}

function RuleRow({ rule, first, last, onEdit, onMove, onChanged }: RowProps) {
  const { id, urlId, name } = rule;
  const path = { id: urlId, ruleId: id };
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
          <span class="hint">{t('rules.matched', { n: rule.matchCount })}</span>
        </p>
        <p>{sends(parse(rule.conditions), bare(rule.targetUrl))}</p>
      </div>
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
          <IconButton icon="up" label={t('rules.up', { name })} disabled={first} onClick={() => onMove(-1)} />
          <IconButton icon="down" label={t('rules.down', { name })} disabled={last} onClick={() => onMove(1)} />
          <IconButton icon="edit" label={t('rules.edit', { name })} onClick={onEdit} />
          <IconButton icon="trash" label={t('rules.delete', { name })} onClick={() => void remove().catch(complain)} />
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

/** The rule in the form, and the way to another one. It is in the address: 'new', or its id. Without one there is no form. */
function useEditing(id: string): [Rule | 'new' | undefined, (one: string) => void] {
  const [editing, setEditing] = useState<Rule | 'new' | undefined>(undefined);
  const asked = may('EDITOR') ? (query.value.get('edit') ?? '') : '';
  useEffect(() => {
    setEditing(asked === 'new' ? 'new' : undefined);
    if (asked === '' || asked === 'new') return undefined;
    let late = false;
    void read(id, asked).then((rule) => !late && setEditing(rule), complain);
    return () => (late = true);
  }, [id, asked]);
  return [editing, (one) => search({ edit: one }, { step: one !== '' })];
}

/** The routing rules of a link, in the order in which they are asked. */
export function Rules({ id }: { id: string }) {
  const link = useResource(`link ${id}`, (signal) => api.get('/api/urls/{id}', { path: { id }, signal }));
  const list = useResource(`rules ${id}`, (signal) =>
    api.get('/api/urls/{id}/routing-rules', { path: { id }, signal }),
  );
  const [editing, edit] = useEditing(id);
  const reload = () => {
    link.reload();
    list.reload();
  };
  const error = link.error ?? list.error;
  if (error !== undefined || !link.data || !list.data) return <Waiting of={{ error, reload }} />;

  const rules = list.data.rules.toSorted((a, b) => b.priority - a.priority);
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
      <header class="head">
        <p class="trail">
          <a href={to('/links')}>{t('links.title')}</a>
        </p>
        <Heading title={t('rules.title', { link: nameOf(link.data) })} />
        {may('EDITOR') && editing === undefined && (
          <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => edit('new')}>
            {t('rules.add')}
          </Button>
        )}
      </header>
      <LinkTabs id={id} here="/rules" />
      <p class="hint lead">{t('rules.hint', { destination: bare(link.data.originalUrl) })}</p>
      {!link.data.isSmartRouting && rules.length > 0 && <Off id={id} onChanged={reload} />}
      {editing !== undefined && (
        <RuleForm
          key={editing === 'new' ? 'new' : editing.id}
          link={id}
          rule={editing === 'new' ? undefined : editing}
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
      {rules.length === 0 && editing === undefined && (
        <div class="empty">
          <h2>{t('rules.empty')}</h2>
          <p>{t('rules.emptyHint')}</p>
        </div>
      )}
      <ol class="rules" aria-label={t('rules.short')}>
        {rules.map((rule, at) => (
          <RuleRow
            key={rule.id}
            rule={rule}
            first={at === 0}
            last={at === rules.length - 1}
            onEdit={() => edit(rule.id)}
            onMove={(direction) => void swap(at, direction).catch(complain)}
            onChanged={list.reload}
          />
        ))}
      </ol>
      {rules.length > 0 && editing === undefined && <TryOut link={id} saved={[rules, link.data.isSmartRouting]} />}
    </>
  );
}

import { useLayoutEffect, useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { Builder } from '../../rules/builder';
import { locate, parse, toJSON, type Group } from '../../rules/model';
import { sends } from '../../rules/sentence';
import { t } from '../../text';
import { jsonProblem } from '../../text/json';
import { Button } from '../../ui/button';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { Footer } from '../../ui/footer';
import { useWrongFocus } from '../../ui/form';
import { Problem } from '../../ui/problem';
import { complete } from '../links/changes';
import { conditionsOf, nameFor, type Start } from './starts';
import { TryOut } from './tryout';

type Rule = Schema<'RoutingRule'>;

interface Fields {
  name: string;
  targetUrl: string;
  conditions: Schema<'ConditionGroup'>;
}

const fieldsOf = (rule: Rule | undefined, start?: Start): Fields => ({
  name: rule?.name ?? start?.name ?? '',
  targetUrl: rule?.targetUrl ?? '',
  conditions: rule?.conditions ?? (start ? conditionsOf(start.conditions) : { operator: 'AND', conditions: [] }),
});

function JSONEditor({ root, onRoot }: { root: Group; onRoot: (root: Group) => void }) {
  const [text, setText] = useState(() => JSON.stringify(toJSON(root), null, 2));
  const [problem, setProblem] = useState('');
  const type = (next: string) => {
    setText(next);
    try {
      onRoot(parse(JSON.parse(next)));
      setProblem('');
    } catch (error) {
      setProblem(t('rules.jsonWrong', { problem: jsonProblem(error) }));
    }
  };
  return (
    <div class={problem ? 'field wrong' : 'field'}>
      <textarea
        class="mono"
        rows={16}
        aria-label={t('rules.json')}
        spellcheck={false}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <p class="hint">{t('rules.jsonHint')}</p>
      <p class="problem" role="alert">
        {problem}
      </p>
    </div>
  );
}

/** Two views of the same draft. */
function Conditions({
  root,
  onRoot,
  problems,
}: {
  root: Group;
  onRoot: (root: Group) => void;
  problems: ReadonlyMap<number, string>;
}) {
  const [json, setJSON] = useState(false);
  return (
    <fieldset class="conditions">
      <legend>{t('rules.conditions')}</legend>
      <div class="switch">
        <Button kind={json ? 'quiet' : 'plain'} aria-pressed={!json} onClick={() => setJSON(false)}>
          {t('rules.builder')}
        </Button>
        <Button kind={json ? 'plain' : 'quiet'} aria-pressed={json} onClick={() => setJSON(true)}>
          {t('rules.json')}
        </Button>
      </div>
      {json ? (
        <JSONEditor root={root} onRoot={onRoot} />
      ) : (
        <Builder root={root} onChange={onRoot} problems={problems} />
      )}
    </fieldset>
  );
}

/** The version that somebody else has saved, beside the one in the form. */
function Conflict({ error, onTheirs, onMine }: Pick<NoticesProps, 'onTheirs' | 'onMine'> & { error: ApiError }) {
  const { who } = error;
  const theirs = error.current as Rule;
  return (
    <div class="notice warn" role="alert">
      <div>
        <p>{t('rules.conflict', { who })}</p>
        <dl>
          <dt>{t('labels.name')}</dt>
          <dd dir="auto">{theirs.name}</dd>
          <dt>{t('rules.theirs')}</dt>
          <dd>{sends(parse(theirs.conditions), theirs.targetUrl)}</dd>
        </dl>
      </div>
      <Button onClick={() => onTheirs(theirs)}>{t('rules.takeTheirs')}</Button>
      <Button kind="primary" onClick={() => onMine(theirs)}>
        {t('rules.keepMine')}
      </Button>
    </div>
  );
}

interface NoticesProps {
  error: unknown;
  /** Given if the form shows a draft from before. */
  onDiscard: (() => void) | undefined;
  onTheirs: (theirs: Rule) => void;
  onMine: (theirs: Rule) => void;
}

/** What the user should know before going on: a restored draft, a conflict, or an error. */
function Notices({ error, onDiscard, onTheirs, onMine }: NoticesProps) {
  const stale = error instanceof ApiError && error.current ? error : undefined;
  return (
    <>
      {onDiscard && (
        <div class="notice">
          <p>{t('rules.draft')}</p>
          <Button onClick={onDiscard}>{t('create.discard')}</Button>
        </div>
      )}
      {stale && <Conflict error={stale} onTheirs={onTheirs} onMine={onMine} />}
      {!stale && error !== undefined && <Problem error={error} marked />}
    </>
  );
}

/** The problems of the form's own fields by their name, and those of conditions by their id. */
function problemsOf(error: unknown, root: Group) {
  const fields = error instanceof ApiError ? error.fields : [];
  const parts = new Map<number, string>();
  for (const { field, message } of fields)
    if (field.startsWith('conditions')) parts.set(locate(root, field).id, message);
  return { own: (name: string) => fields.find((one) => one.field === name)?.message, parts };
}

/** The rules as they would be after saving the form. */
function draftOf(rules: readonly Rule[], rule: Rule | undefined, typed: Fields, priority: number): Schema<'LinkDraft'> {
  const name = typed.name.trim() || t('rules.unnamed');
  const fields = { ...typed, name, targetUrl: complete(typed.targetUrl) };
  const kept = rules.map(({ id, name, targetUrl, conditions, priority: own, isActive }) => ({
    ...{ id, name, targetUrl, conditions, priority: own, isActive },
    ...(id === rule?.id && fields),
  }));
  return { isSmartRouting: true, rules: rule ? kept : [...kept, { ...fields, priority }] };
}

interface FormProps {
  link: string;
  /** The rule to change; undefined for a new one. */
  rule: Rule | undefined;
  /** All rules of the link, for the simulator. */
  rules: readonly Rule[];
  /** Of a new rule. */
  priority: number;
  /** With what a new rule begins, and its name in the address. */
  start?: Start | undefined;
  startName?: string;
  onSaved: (rule: Rule) => void;
  onCancel: () => void;
}

/** The first control with a problem. */
const wrong = '.ruleform [aria-invalid], .ruleform .wrong select';

/** Saves a new rule, or changes one unless somebody else did meanwhile. */
const put = (link: string, rule: Rule | undefined, body: Fields, priority: number): Promise<Rule> =>
  rule
    ? api.put('/api/urls/{id}/routing-rules/{ruleId}', { path: { id: link, ruleId: rule.id }, body, ifMatch: rule })
    : api.post('/api/urls/{id}/routing-rules', { path: { id: link }, body: { ...body, priority } });

/** Gives the focus to the destination of a rule that has begun with its conditions. Not every browser focuses a button that is pressed. */
function useFirst(begun: boolean): void {
  useLayoutEffect(() => {
    if (begun) document.querySelector<HTMLElement>('.ruleform [data-first]')?.focus();
  }, [begun]);
}

/** The form for a rule. What is typed is kept until it is saved or discarded. */
export function RuleForm({ link, rule, rules, priority, start, startName = '', onSaved, onCancel }: FormProps) {
  const draft = useDraft<Fields>(`rule.${link}.${rule?.id ?? `new${startName}`}`, fieldsOf(rule, start));
  const [root, setRoot] = useState(() => parse(draft.value.conditions));
  const [base, setBase] = useState(rule);
  const [error, setError] = useState<unknown>(undefined);
  useWrongFocus(error, wrong);
  const [busy, setBusy] = useState(false);
  const set = (values: Partial<Fields>) => draft.set({ ...draft.value, ...values });
  useFirst(start !== undefined);
  const change = (next: Group) => {
    setRoot(next);
    set({ conditions: conditionsOf(next) });
  };
  const begin = (from: Rule | undefined) => {
    const fields = fieldsOf(from, start);
    draft.discard(fields);
    setRoot(parse(fields.conditions));
    setBase(from);
    setError(undefined);
  };

  const save = async (over = base) => {
    setBusy(true);
    const { name, targetUrl } = draft.value;
    const named = { name: name.trim() || nameFor(root), targetUrl: complete(targetUrl) };
    try {
      const saved = await put(link, over, { ...named, conditions: conditionsOf(root) }, priority);
      draft.discard();
      onSaved(saved);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };

  const { own, parts } = problemsOf(error, root);
  return (
    <form
      class="ruleform"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void save();
      }}
    >
      <Notices
        error={error}
        onDiscard={draft.restored ? () => begin(rule) : undefined}
        onTheirs={begin}
        onMine={(theirs) => void save(theirs)}
      />
      <Input
        label={t('labels.name')}
        hint={draft.value.name.trim() === '' && root.parts.length > 0 && t('rules.nameLeft', { name: nameFor(root) })}
        name="name"
        value={draft.value.name}
        problem={own('name')}
        onValue={(name) => set({ name })}
        first={!start}
      />
      <Conditions root={root} onRoot={change} problems={parts} />
      <Input
        label={t('create.destination')}
        name="targetUrl"
        inputmode="url"
        spellcheck={false}
        value={draft.value.targetUrl}
        problem={own('targetUrl')}
        onValue={(targetUrl) => set({ targetUrl })}
        first={start !== undefined}
      />
      <p class="sentence">{sends(root, complete(draft.value.targetUrl))}</p>
      <TryOut
        link={link}
        draft={draftOf(rules, rule, draft.value, priority)}
        mine={rule ? rules.findIndex(({ id }) => id === rule.id) : rules.length}
      />
      <Footer busy={busy} onCancel={onCancel} />
    </form>
  );
}

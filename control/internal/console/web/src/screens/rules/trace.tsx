import type { Schema } from '../../api/client';
import { condition, group, type Part } from '../../rules/model';
import { describe, seen } from '../../rules/sentence';
import { t } from '../../text';
import { Icon } from '../../ui/icon';

type Trace = Schema<'ExplainedCondition'>;

/** The condition of a trace, to say it in words. */
function partOf(trace: Trace): Part {
  if (trace.logicalOperator === null) return condition(trace.type ?? '', trace.operator ?? '', trace.value);
  return group(trace.logicalOperator === 'OR' ? 'OR' : 'AND', trace.children.map(partOf));
}

/** Each condition with yes or no, and what the visitor had. */
export function TraceView({ trace }: { trace: Trace }) {
  const leaf = trace.logicalOperator === null;
  const says = leaf ? describe(partOf(trace)) : trace.logicalOperator === 'OR' ? t('rules.any') : t('rules.all');
  return (
    <div class={trace.evaluated ? 'trace' : 'trace skipped'}>
      <p class={trace.matched ? 'yes' : 'no'}>
        <Icon name={trace.matched ? 'check' : 'close'} label={trace.matched ? t('try.yes') : t('try.no')} />
        <span>{says}</span>
        {leaf && (
          <span class="hint">
            {t('try.had', {
              value: trace.visitorValue === null ? t('try.unknown') : seen(trace.type ?? '', trace.visitorValue),
            })}
          </span>
        )}
      </p>
      {trace.children.length > 0 && (
        <ul>
          {trace.children.map((child, at) => (
            <li key={at}>
              <TraceView trace={child} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

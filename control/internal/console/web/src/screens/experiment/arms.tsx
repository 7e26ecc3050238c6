// The variants of a test that has not begun.
import { t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Input } from '../../ui/field';
import { bare } from '../links/changes';
import type { Share } from './shares';

export type Arm = Share;

/** The most variants of a link. */
const most = 10;

interface ArmsProps {
  /** The first one is the present destination, which visitors are compared with. */
  arms: readonly Arm[];
  onArms: (arms: Arm[]) => void;
  problem: (field: string) => string | undefined;
}

/** The name of the next variant: A, B, C and so on. */
const nameAt = (at: number): string => String.fromCharCode('A'.charCodeAt(0) + at);

export function Arms({ arms, onArms, problem }: ArmsProps) {
  const change = (at: number, values: Partial<Arm>) =>
    onArms(arms.map((one, i) => (i === at ? { ...one, ...values } : one)));
  const weight = (at: number, one: Arm) => (
    <Input
      label={t('test.weight')}
      name={`weight${at}`}
      type="number"
      value={String(one.weight)}
      onValue={(text) => change(at, { weight: Math.max(0, Math.round(Number(text)) || 0) })}
      problem={problem(`variants.${at}.weight`)}
    />
  );
  return (
    <>
      {arms.map((one, at) => (
        <fieldset key={at} class="planarm">
          <legend class="offscreen">{t('plan.variant', { name: one.name })}</legend>
          {at === 0 ? (
            <div class="field">
              <span class="label">{t('plan.control', { name: one.name })}</span>
              <p class="armfixed">
                <bdi>{bare(one.targetUrl)}</bdi>
              </p>
            </div>
          ) : (
            <>
              <Input
                label={t('create.destination')}
                name={at === 1 ? 'targetUrl' : `targetUrl${at}`}
                inputmode="url"
                spellcheck={false}
                value={one.targetUrl}
                onValue={(targetUrl) => change(at, { targetUrl })}
                problem={problem(`variants.${at}.targetUrl`)}
              />
              <Input
                label={t('labels.name')}
                name={`name${at}`}
                value={one.name}
                onValue={(name) => change(at, { name })}
                problem={problem(`variants.${at}.name`)}
              />
            </>
          )}
          {weight(at, one)}
          {at > 1 && (
            <IconButton
              icon="trash"
              label={t('labels.deleteOne', { name: one.name })}
              onClick={() => onArms(arms.toSpliced(at, 1))}
            />
          )}
        </fieldset>
      ))}
      {arms.length < most && (
        <Button icon="plus" onClick={() => onArms([...arms, { name: nameAt(arms.length), targetUrl: '', weight: 50 }])}>
          {t('test.new')}
        </Button>
      )}
    </>
  );
}

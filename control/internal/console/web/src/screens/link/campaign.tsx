// The UTM fields of a link or a template.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { to } from '../../route';
import { may } from '../../session';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { useLater } from '../../ui/later';
import { Picker } from '../../ui/picker';
import { useResource } from '../../ui/resource';
import { utm, type Utm } from './fields';

interface CampaignProps {
  fields: Utm;
  set: (values: Partial<Utm>) => void;
  problem: (field: string) => string | undefined;
}

function Field({ name, fields, set, problem }: CampaignProps & { name: keyof Utm }) {
  const [used, setUsed] = useState(false); // nothing is asked before somebody uses the field
  const text = useLater(fields[name]);
  const found = useResource(`${used} ${text}`, async (signal) =>
    used ? await api.get('/api/urls/utm-suggestions', { query: { field: name, q: text.slice(0, 100) }, signal }) : null,
  );
  return (
    <Input
      label={t(`edit.utm.${name}`)}
      name={name}
      autocomplete="off"
      value={fields[name]}
      onValue={(value) => set({ [name]: value })}
      onFocus={() => setUsed(true)}
      options={found.data?.suggestions.map((one) => one.value) ?? []}
      problem={problem(name)}
    />
  );
}

/** The fields, with values that other links have. */
export function CampaignFields(props: CampaignProps) {
  return (
    <div class="pair">
      {utm.map((name) => (
        <Field key={name} {...props} name={name} />
      ))}
    </div>
  );
}

/** The fields in a form of a link. A template fills them in. */
export function Campaign(props: CampaignProps) {
  const { fields, set, problem } = props;
  const [begun] = useState(() => utm.some((name) => fields[name] !== ''));
  const find = async (text: string, signal: AbortSignal) => {
    const { data } = await api.get('/api/utm-templates', { query: { search: text, pageSize: 50 }, signal });
    return data.map((one) => [JSON.stringify(utm.map((name) => one[name] ?? '')), one.name] as const);
  };
  const use = (values: string) => {
    const given = JSON.parse(values) as string[];
    set(Object.fromEntries(utm.map((name, at) => [name, given[at] ?? ''])));
  };
  const filled = utm.filter((name) => fields[name].trim() !== '');
  const kept = new URLSearchParams([['new', '1'], ...filled.map((name) => [name, fields[name].trim()])]);
  return (
    <details class="part" open={begun || utm.some((name) => problem(name))}>
      <summary>{t('edit.campaign')}</summary>
      <div class="campaign">
        <Picker
          label={t('edit.template')}
          name="template"
          shown=""
          placeholder={t('edit.templateNone')}
          find={find}
          onPick={use}
        />
        <CampaignFields {...props} />
        {filled.length > 0 && may('EDITOR') && (
          <p>
            <a href={to(`/templates?${kept.toString()}`)}>{t('templates.keep')}</a>
          </p>
        )}
      </div>
    </details>
  );
}

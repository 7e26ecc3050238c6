import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { t } from '../../text';
import { Chips } from '../../ui/chips';
import { useLater } from '../../ui/later';
import { useResource } from '../../ui/resource';

interface TagFieldProps {
  label?: string;
  values: readonly string[];
  onValues: (values: string[]) => void;
  problem: string | undefined;
}

/** The tags of a link. The server suggests those that contain what is typed. */
export function TagField({ label = t('create.tags'), values, onValues, problem }: TagFieldProps) {
  const [typed, setTyped] = useState<string>();
  const wanted = useLater(typed?.trim() ?? '');
  const used = typed !== undefined;
  const tags = useResource(`${used} ${wanted}`, async (signal) =>
    used ? (await api.get('/api/tags', { query: { search: wanted, pageSize: 100 }, signal })).data : [],
  );
  return (
    <div class={problem ? 'field wrong' : 'field'}>
      <span class="label">{label}</span>
      <Chips
        label={label}
        values={values}
        options={tags.data?.map((tag) => [tag.name, tag.name] as const) ?? []}
        onValues={onValues}
        onTyped={setTyped}
      />
      <p class="problem" role="alert">
        {problem}
      </p>
    </div>
  );
}

import { api, type Schema } from '../../api/client';
import { moment, number, t } from '../../text';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';

/** Which weights the variants had, who set them, and why. */
export function Weights({ id, variants }: { id: string; variants: readonly Schema<'Variant'>[] }) {
  const list = useResource(id, (signal) =>
    api.get('/api/urls/{id}/experiment/weights', { path: { id }, query: { pageSize: 20 }, signal }),
  );
  const nameOf = (variant: string) => variants.find((one) => one.id === variant)?.name ?? t('test.gone');
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (!list.data || list.data.total === 0) return null;
  return (
    <Section title={t('test.history')}>
      <Table
        label={t('test.history')}
        rows={list.data.data}
        keyOf={(one) => one.at}
        columns={[
          { name: t('report.when'), cell: (one) => moment(one.at) },
          { name: t('test.by'), cell: (one) => t(`test.by.${one.source}`) },
          {
            name: t('test.weights'),
            cell: (one) =>
              Object.entries(one.weights)
                .map(([variant, weight]) => `${nameOf(variant)} ${number(weight)}`)
                .join(' · '),
          },
          { name: t('test.reason'), cell: (one) => t(`test.why.${one.reasonCode}`) },
        ]}
      />
    </Section>
  );
}

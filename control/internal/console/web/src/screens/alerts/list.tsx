// What the lists of rules and of channels share: pages, dialogs, and what can be done with a row.
import { Fragment, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { query, search } from '../../route';
import { t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button, IconButton } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Empty, Loading } from '../../ui/page';
import { Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import type { Resource } from '../../ui/resource';
import { Table, type Column } from '../../ui/table';
import { complain, notify } from '../../ui/toast';
import type { FormProps } from '../labels/catalogue';

/** A rule or a channel. */
interface Switched {
  id: string;
  name: string;
  isActive: boolean;
}

interface AlertListProps<Row> {
  label: string;
  create: string;
  none: string;
  hint: string;
  page: number;
  list: Resource<{ data: readonly Row[]; total: number; totalPages: number }>;
  /** The columns between the name and what can be done with a row. */
  columns: readonly Column<Row>[];
  turn: (row: Row, on: boolean) => Promise<unknown>;
  form: (props: FormProps<Row>) => ComponentChildren;
  remove: (row: Row) => Promise<unknown>;
  /** What happens when a row is deleted. */
  consequence: string;
}

interface RowsProps<Row> {
  props: AlertListProps<Row>;
  onEdit: (row: Row) => void;
  onRemove: (row: Row) => void;
}

function Rows<Row extends Switched>({ props: { label, list, columns, turn }, onEdit, onRemove }: RowsProps<Row>) {
  const toggle = async (one: Row) => {
    await turn(one, !one.isActive);
    list.reload();
  };
  const name: Column<Row> = {
    name: t('labels.name'),
    cell: (one) => (
      <span class="named">
        <bdi class="strong">{one.name}</bdi>
        {!one.isActive && <Badge>{t('totp.off')}</Badge>}
      </span>
    ),
  };
  const actions: Column<Row> = {
    name: t('test.actions'),
    cell: (one) => (
      <>
        <IconButton
          icon={one.isActive ? 'pause' : 'play'}
          label={t(one.isActive ? 'alert.pauseOne' : 'alert.resumeOne', { name: one.name })}
          onClick={() => void toggle(one).catch(complain)}
        />
        <IconButton icon="edit" label={t('labels.editOne', { name: one.name })} onClick={() => onEdit(one)} />
        <IconButton icon="trash" label={t('labels.deleteOne', { name: one.name })} onClick={() => onRemove(one)} />
      </>
    ),
  };
  return (
    <Table label={label} rows={list.data?.data ?? []} keyOf={(one) => one.id} columns={[name, ...columns, actions]} />
  );
}

/** The list with its pages and dialogs. */
export function AlertList<Row extends Switched>(props: AlertListProps<Row>) {
  const { create, none, hint, page, list, form, remove, consequence } = props;
  const [editing, setEditing] = useState<Row>();
  const [removing, setRemoving] = useState<Row>();
  const { data } = list;
  const add = (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {create}
    </Button>
  );
  const close = () => {
    search({ new: '' });
    setEditing(undefined);
  };
  return (
    <>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {data?.total === 0 && (
        <Empty title={none} hint={hint}>
          {add}
        </Empty>
      )}
      {data && data.total > 0 && (
        <div class="alertlist">
          <p class="choices">{add}</p>
          <Rows props={props} onEdit={setEditing} onRemove={setRemoving} />
        </div>
      )}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {(editing !== undefined || query.value.has('new')) && (
        <Fragment key={editing?.id}>
          {form({
            row: editing,
            onClose: close,
            onSaved: () => {
              close();
              notify(t('labels.saved'));
              list.reload();
            },
          })}
        </Fragment>
      )}
      {removing && (
        <Deletion
          name={removing.name}
          remove={() => remove(removing)}
          onDeleted={list.reload}
          onClose={() => setRemoving(undefined)}
        >
          {consequence}
        </Deletion>
      )}
    </>
  );
}

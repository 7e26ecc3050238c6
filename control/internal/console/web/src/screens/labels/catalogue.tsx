// A screen that lists small objects with a name, such as tags: find, create, change and delete.
import { useState } from 'preact/hooks';
import type { ComponentChildren, ComponentType } from 'preact';
import { query, search } from '../../route';
import { may } from '../../session';
import { number, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import type { Resource } from '../../ui/resource';
import { SearchField } from '../../ui/search';
import { Table, type Column } from '../../ui/table';
import { notify } from '../../ui/toast';
import { utm } from '../link/fields';

interface Named {
  id: string;
  name: string;
}

interface Page<Row> {
  data: readonly Row[];
  page: number;
  total: number;
  totalPages: number;
}

export interface FormProps<Row> {
  /** What is changed; undefined for a new one. */
  row: Row | undefined;
  onClose: () => void;
  onSaved: () => void;
}

interface CatalogueProps<Row> {
  title: string;
  hint: string;
  create: string;
  none: string;
  /** The list at `query`: search and page. */
  list: Resource<Page<Row>>;
  columns: readonly Column<Row>[];
  /** Filters beside the search. */
  filters?: ComponentChildren;
  /** Whether a filter is set, so that an empty list does not mean that there is nothing. */
  filtered?: boolean;
  /** More buttons of a row, before those to change and to delete it. */
  tools?: (row: Row) => ComponentChildren;
  Form: ComponentType<FormProps<Row>>;
  /** What happens when a row is deleted. */
  consequence: (row: Row) => string;
  remove: (row: Row) => Promise<unknown>;
}

function Rows<Row extends Named>({
  props: { list, columns, title, tools: more },
  onEdit,
  onRemove,
}: {
  props: CatalogueProps<Row>;
  onEdit: (row: Row) => void;
  onRemove: (row: Row) => void;
}) {
  const tools: Column<Row> = {
    name: t('test.actions'),
    cell: (row) => (
      <>
        {more?.(row)}
        <IconButton icon="edit" label={t('labels.editOne', { name: row.name })} onClick={() => onEdit(row)} />
        <IconButton icon="trash" label={t('labels.deleteOne', { name: row.name })} onClick={() => onRemove(row)} />
      </>
    ),
  };
  return (
    <Table
      label={title}
      rows={list.data?.data ?? []}
      keyOf={(row) => row.id}
      columns={may('EDITOR') ? [...columns, tools] : columns}
    />
  );
}

/** The list with its search, pages and dialogs. */
export function Catalogue<Row extends Named>(props: CatalogueProps<Row>) {
  const { title, hint, create, none, list, Form, consequence, remove } = props;
  const [editing, setEditing] = useState<Row>();
  const [removing, setRemoving] = useState<Row>();
  const words = query.value.get('search') ?? '';
  const page = list.data;
  const searching = words !== '' || props.filtered === true;
  const add = may('EDITOR') && (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {create}
    </Button>
  );
  const close = () => {
    search({ new: '', ...Object.fromEntries(utm.map((name) => [name, ''])) });
    setEditing(undefined);
  };
  return (
    <>
      <Head title={title} note={page && number(page.total)}>
        {(page?.total !== 0 || searching) && add}
      </Head>
      <p class="hint lead">{hint}</p>
      {(page?.total !== 0 || searching || props.filters) && (
        <div class="filters" role="search">
          <SearchField label={t('labels.search')} hint={t('labels.name')} value={words} />
          {props.filters}
        </div>
      )}
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!page && list.error === undefined && <Loading />}
      {page?.data.length === 0 &&
        (searching ? (
          <Empty title={t('labels.nothing')} hint="" />
        ) : (
          <Empty title={none} hint="">
            {add}
          </Empty>
        ))}
      {page && page.data.length > 0 && <Rows props={props} onEdit={setEditing} onRemove={setRemoving} />}
      {page && <Pager page={page.page} totalPages={page.totalPages} />}
      {may('EDITOR') && (editing !== undefined || query.value.has('new')) && (
        <Form
          row={editing}
          onClose={close}
          onSaved={() => {
            close();
            notify(t('labels.saved'));
            list.reload();
          }}
        />
      )}
      {removing && (
        <Deletion
          name={removing.name}
          remove={() => remove(removing)}
          onDeleted={list.reload}
          onClose={() => setRemoving(undefined)}
        >
          {consequence(removing)}
        </Deletion>
      )}
    </>
  );
}

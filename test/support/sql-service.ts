// A service on PostgreSQL, written from the contract alone: it imports nothing from src, so that it can disagree with it.

import { PGlite } from '@electric-sql/pglite';
import { pageOf } from './catalogue-page.ts';
import type { Handler, ScriptedRequest, ScriptedResponse } from './scripted-server.ts';

/** What services do differently; by default like ignores case, and nothing orders equal values. */
export interface Habits {
  /** What the images are selected from: a table, or a query in brackets. */
  readonly from?: string;
  /** Fields whose like minds case. */
  readonly mindsCase?: readonly string[];
  /** The collation of texts, which the database has as `de`, `tr` and `loose` (without case and accents). */
  readonly collation?: 'C' | 'de' | 'tr' | 'loose';
  /** The second sort key. */
  readonly secondKey?: 'id';
  /** Refuses a per_page above 100, instead of using 100. */
  readonly refusesPerPage?: boolean;
  /** Sends 404 for a page after the last one, instead of an empty one. */
  readonly endsWith404?: boolean;
  /** Fields that it cannot filter. */
  readonly unfiltered?: readonly string[];
  /** Fields that it cannot sort. */
  readonly unsorted?: readonly string[];
  /** The status of a request that it does not understand [400]. */
  readonly refusal?: number;
  /** Its like: of a pattern in lower case, which minds case; or only %x%, x% and %x, as text search has. */
  readonly like?: 'lowers the pattern' | 'contains, starts or ends';
  /** Ignores filters, which it echoes. */
  readonly ignores?: boolean;
  /** The sizes of its pages, in turn, if fewer are wanted than asked for. */
  readonly sizes?: readonly number[];
  /** Called after each request, to change the table meanwhile. */
  readonly onRequest?: () => Promise<unknown>;
}

type Row = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<string, string>> = {
  ...{ id: 'integer', public: 'boolean', created_on: 'timestamptz', updated_on: 'timestamptz' },
  ...{ name: 'text', path: 'text', label: 'text', folder: 'text', data_store: 'text' },
};

const OPERATORS: Readonly<Record<string, string>> = {
  ...{ eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=', like: 'like', in: 'in' },
};

const STAMP = 'YYYY-MM-DD Dy HH24:MI:SS TZ';

/** The columns of an image as the service sends them. */
export const COLUMNS = `id, name, path, label, folder, data_store, public,
  to_char(created_on, '${STAMP}') as created_on, to_char(updated_on, '${STAMP}') as updated_on`;

let shared: Promise<PGlite> | undefined;

/**
 * Returns the database of this worker, with the tables `images_250` and `images_5000`. Names, folders and
 * times repeat, times have fractions of a second, and ids have gaps and nothing to do with the order of storage.
 */
export function database(): Promise<PGlite> {
  shared ??= PGlite.create().then(async (db) => {
    await db.exec(`set timezone = 'America/New_York';
      create collation de (provider = icu, locale = 'de-DE');
      create collation tr (provider = icu, locale = 'tr-TR');
      create collation loose (provider = icu, locale = 'und@colStrength=primary', deterministic = false);`);
    for (const count of [250, 5_000]) await db.exec(tableOf(count));
    return db;
  });
  return shared;
}

function tableOf(count: number): string {
  const pick = (values: string, by: string) =>
    `(string_to_array('${values}', ' '))[1 + (${by}) % ${values.split(' ').length}]`;
  const families = 'ubuntu Ubuntu debian AlmaLinux rocky FreeBSD a_b 100%-free élan mini';
  return `create table images_${count} (
      id integer primary key, name text not null, folder text, data_store text not null,
      public boolean not null, created_on timestamptz not null, updated_on timestamptz not null,
      label text generated always as (coalesce(folder || '/', '') || name) stored,
      path text generated always as ('[' || data_store || '] ' || coalesce(folder || '/', '') || name) stored);
    insert into images_${count} select 3 + n * 7,
      case when n % 83 = 82 then 'null' when n % 89 = 88 then 'a,b-' || n % 5 || '.ova'
        else ${pick(families, 'n')} || '-' || 16 + n / 10 % 9 || ${pick('.04 .10', 'n / 90')}
          || ${pick('-amd64 -arm64 -x86_64 -el8', 'n / 7')} || '-' || 20200101 + n / 180 || '.ova' end,
      nullif(${pick('ubuntu linux Linux bsd -', 'n * 3 / 2')}, '-'),
      ${pick('store-1 store-2 Store-1', 'n / 11')}, n % 6 <> 0,
      '2018-03-11T00:00:00Z'::timestamptz + (n * 37 % ${Math.ceil(count / 4) + 1}) * interval '5 hours 10 minutes',
      '2023-11-05T00:00:00Z'::timestamptz + (n * 61 % ${Math.ceil(count / 3) + 1}) * interval '3 hours 20 seconds'
        + n % 4 * interval '0.2 seconds'
    from generate_series(0, ${count - 1}) as n order by md5(n::text);`;
}

/**
 * Returns a copy of a table for `from`, a function that replaces one of its images by a copy with a higher id and later
 * times, and the ids that were touched.
 */
export async function changingTable(db: PGlite, count: number, name: string) {
  const fields = 'name, folder, data_store, public, created_on, label, path';
  await db.exec(`drop table if exists ${name}; drop table if exists ${name}_touched;
    create table ${name} as select * from images_${count}; alter table ${name} add primary key (id);
    create table ${name}_touched (id integer primary key);`);
  let replaced = 0;
  const replace = async () => {
    replaced += 1;
    const at = (replaced * 7_919) % count;
    await db.query(`with old as (select * from ${name} order by id offset ${at} limit 1),
        gone as (delete from ${name} where id = (select id from old)),
        added as (insert into ${name} (id, updated_on, ${fields})
          select (select max(id) + 1 from ${name}), (select max(updated_on) from ${name}) + interval '1 hour', ${fields}
          from old returning id)
      insert into ${name}_touched select id from old union select id from added on conflict do nothing`);
  };
  const touched = async () => {
    const { rows } = await db.query<{ id: number }>(`select id from ${name}_touched`);
    return new Set<unknown>(rows.map(({ id }) => id));
  };
  return { from: name, replace, touched };
}

/** Returns the handler of a service with these habits. */
export function sqlService(db: PGlite, habits: Habits = {}): Handler {
  const { from = 'images_250', refusal = 400, sizes = [100], onRequest } = habits;
  return async ({ method, url }, index) => {
    const [, id] = /^\/v2\/image(?:\/(\d+))?$/.exec(url.pathname) ?? [null];
    if (method !== 'GET' || id === null) return refuse(404, 'Not found.');
    try {
      const size = sizes[index % sizes.length] ?? 100;
      if (id === undefined) return await listOf(db, url, { ...habits, from, size });
      const sql = `select ${COLUMNS} from ${from} as image where id = $1::text::integer`;
      const [data] = (await db.query<Row>(sql, [id])).rows;
      return data ? { json: { data, meta: {} } } : refuse(404, 'No such image.');
    } catch (error) {
      return refuse(refusal, error instanceof Error ? error.message : 'Invalid.');
    } finally {
      await onRequest?.();
    }
  };
}

const refuse = (status: number, message: string): ScriptedResponse => ({
  status,
  json: { error: 'request error', message, status },
});

async function listOf(
  db: PGlite,
  url: ScriptedRequest['url'],
  habits: Habits & { readonly size: number },
) {
  const { from, secondKey, collation = 'C', size, ignores } = habits;
  const query = url.searchParams;
  const wanted = Number(query.get('per_page') ?? 10);
  const page = Number(query.get('page') ?? 1);
  if (!(wanted >= 1 && page >= 1) || (habits.refusesPerPage && wanted > 100)) {
    throw new Error('Invalid page or per_page.');
  }
  const perPage = Math.min(wanted, size);
  const column = (name = '', refused: readonly string[] = []) => {
    if (!(name in TYPES) || refused.includes(name)) throw new Error(`Unknown field: ${name}.`);
    return TYPES[name] === 'text' ? `${name} collate "${collation}"` : name;
  };
  const filter = ignores ? null : query.get('filter');
  const [, field = '', operator = '', value = ''] = /^(\w+),(\w+),(.*)$/s.exec(filter ?? '') ?? [];
  const where =
    filter === null ? 'true' : condition(column(field, habits.unfiltered), field, operator, habits);
  const parameters = filter === null ? [] : [value];
  const sort = query.get('sort');
  const [, key, direction] = /^(\w+),(asc|desc)$/.exec(sort ?? '') ?? [];
  const keys = [
    ...(sort === null ? [] : [`${column(key, habits.unsorted)} ${direction}`]),
    ...(secondKey ? [secondKey] : []),
  ];
  const order = keys.length > 0 ? `order by ${keys.join(', ')}` : '';
  const source = `from ${from} as image where ${where}`;
  const counts = await db.query<{ total: number }>(
    `select count(*)::int as total ${source}`,
    parameters,
  );
  const total = counts.rows[0]?.total ?? 0;
  const paging = `limit ${perPage} offset ${(page - 1) * perPage}`;
  const rows = await db.query<Row>(
    `select ${query.get('expand') === '1' ? COLUMNS : 'id'} ${source} ${order} ${paging}`,
    parameters,
  );
  if (habits.endsWith404 && page > 1 && rows.rows.length === 0) return refuse(404, 'No such page.');
  const pages = Math.ceil(total / perPage);
  return { json: pageOf(url, rows.rows, { page, per_page: perPage, total }, { pages }) };
}

/** Takes all characters between a first and a last % as they are. */
const FORMS = (column: string) => `case
  when length($1::text) > 1 and $1 like '\\%%' and $1 like '%\\%' then strpos(lower(${column}), lower(substr($1, 2, length($1) - 2))) > 0
  when $1 like '%\\%' then starts_with(lower(${column}), lower(left($1, -1)))
  when $1 like '\\%%' then right(lower(${column}), length($1) - 1) = lower(substr($1, 2))
  else lower(${column}) = lower($1) end`;

function condition(column: string, field: string, operator: string, habits: Habits): string {
  const sign = OPERATORS[operator];
  const type = TYPES[field];
  if (sign === undefined) throw new Error('Unknown operator.');
  if (operator === 'like' && habits.like === 'lowers the pattern') {
    return `${column} like lower($1::text)`;
  }
  if (operator === 'like' && habits.like === 'contains, starts or ends') return FORMS(column);
  if (operator === 'in') return `${column} = any(string_to_array($1::text, ',')::${type}[])`;
  const ignores = operator === 'like' && !habits.mindsCase?.includes(field);
  // PostgreSQL has no ilike for a collation that ignores case itself.
  return `${column} ${ignores && habits.collation !== 'loose' ? 'ilike' : sign} $1::text::${type}`;
}

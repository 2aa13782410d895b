/** Runs a statement in the transaction in which a demo is looked for, or removed. */
export type Run = <Row extends object>(sql: string, bind?: readonly unknown[]) => Promise<Row[]>

/** Deletes demo rows of one table; foreign keys determine the order. */
export interface Deletion {
  readonly sql: string
  readonly bind: readonly unknown[]
}

/**
 * Returns a deletion for every table with such a column, of the rows in which it has one of these values. Tables of job
 * runners are excluded.
 */
export async function deletionsBy(run: Run, column: 'organization_id' | 'brand_id' | 'tenant_id', ids: readonly string[]): Promise<readonly Deletion[]> {
  const tables = await run<{ name: string }>(keyedTables, [column])
  return tables.map(({ name }) => ({ sql: `delete from ${name} where ${column} = any($1::uuid[])`, bind: [ids] }))
}

const keyedTables = `
  select format('%I.%I', c.table_schema, c.table_name) as name
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
   where t.table_type = 'BASE TABLE' and c.column_name = $1 and left(c.table_schema, 3) <> 'pg_' and right(c.table_schema, 5) <> '_jobs'
   order by name`

/** Runs a statement in the transaction in which a demo is looked for, or removed. */
export type Run = <Row extends object>(sql: string, bind?: readonly unknown[]) => Promise<Row[]>

/** Removes something of the demo; which one goes first, foreign keys say. */
export interface Deletion {
  readonly sql: string
  readonly bind: readonly unknown[]
}

/** A deletion for every table with such a column, of the rows in which it is one of these. Tables of job runners are not looked at. */
export async function deletionsBy(run: Run, column: 'organization_id' | 'brand_id' | 'tenant_id', ids: readonly string[]): Promise<readonly Deletion[]> {
  const tables = await run<{ name: string }>(keyedTables, [column])
  return tables.map(({ name }) => ({ sql: `delete from ${name} where ${column} = any($1::uuid[])`, bind: [ids] }))
}

const keyedTables = `
  select format('%I.%I', c.table_schema, c.table_name) as name
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
   where t.table_type = 'BASE TABLE' and c.column_name = $1 and left(c.table_schema, 3) <> 'pg_' and right(c.table_schema, 5) <> '_jobs'
   order by name`

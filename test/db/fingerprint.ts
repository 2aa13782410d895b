import pg from 'pg'
import { probeTable } from '../../db/health/write-probe.ts'

/** Rows and their hash for each table of the subgraphs and of the migrator's books, but for what readiness writes: `{ 'publishing.posts': '3 rows 900150983cd2…' }`. */
export async function fingerprint(url: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('set timezone to utc')
    const tables = await client.query<{ name: string }>(
      `
      select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname !~ '^pg_|_jobs$' and n.nspname <> 'information_schema'
        and format('%I.%I', n.nspname, c.relname) <> $1 order by 1`,
      [probeTable],
    )
    const found: Record<string, string> = {}
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ told: string }>(
        `select count(*) || ' rows ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as told from ${name} t`,
      )
      found[name] = rows[0]!.told
    }
    return found
  } finally {
    await client.end()
  }
}

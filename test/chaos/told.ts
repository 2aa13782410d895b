import pg from 'pg'
import { newId } from '../../platform/ids.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { until } from '../kit/launch.ts'

/** Facts of a platform whose processes are being killed. */
export interface Told extends AsyncDisposable {
  /** Writes the facts of one more item of the launcher's, in one transaction: opened, closed, and opened again. */
  write(): Promise<void>
  /**
   * Waits until all facts of all services are delivered, and says what is wrong then: one that its receiver has not written down, one of a
   * subject that came before an earlier one, an item that is not what its facts leave.
   */
  wrong(): Promise<readonly string[]>
  /** How many facts of a kind there are of a subject, a receiver each. */
  count(kind: string, subject: string): Promise<number>
  /** How many there are in all. */
  total(): Promise<number>
  sql<Row extends object = Record<string, unknown>>(text: string, bind?: readonly unknown[]): Promise<Row[]>
}

/**
 * @param url where the platform keeps its data; connections to it are lost meanwhile, and made anew
 * @param organizationId whose the items are
 */
export function openTold(url: string, organizationId: string): Told {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 2_000 })
  pool.on('error', () => {})
  const keys: string[] = []
  const sql: Told['sql'] = async <Row extends object>(text: string, bind: readonly unknown[] = []) => (await pool.query<Row>(text, [...bind])).rows
  /** Told again until it came through: the database is away for a moment. */
  const surely = (what: string, work: () => Promise<unknown>) =>
    until(
      what,
      () =>
        work().then(
          () => true,
          () => false,
        ),
      60,
    )
  const tellers = async () =>
    (
      await sql<{ slug: string }>(`select table_schema as slug from information_schema.tables where table_name = 'facts' and table_schema = any($1)`, [
        listedSlugs,
      ])
    ).map(({ slug }) => slug)

  return {
    sql,
    async write() {
      const key = `chaos:${keys.length}`
      keys.push(key)
      const opened = (title: string) => ({
        key,
        kind: 'POST_FAILED',
        organizationId,
        subjectId: key,
        title,
        url: 'http://localhost/',
        at: new Date().toISOString(),
        audience: 'organization',
      })
      const facts = [
        [newId(), 'attention.opened', opened('first')],
        [newId(), 'attention.closed', { key }],
        [newId(), 'attention.opened', opened('again')],
      ] as const
      // One statement, and none when it came through before its connection broke.
      await surely(`the facts of ${key} are written`, () =>
        sql(
          `insert into publishing.facts (id, receiver, kind, subject, body, at, next_at)
           select id, 'launcher', kind, $4, body, now(), now() from unnest($1::uuid[], $2::text[], $3::jsonb[]) with ordinality t (id, kind, body, place)
            where not exists (select from publishing.facts where id = any($1::uuid[])) order by place`,
          [facts.map(([id]) => id), facts.map(([, kind]) => kind), facts.map(([, , body]) => JSON.stringify(body)), `attention:${key}`],
        ),
      )
    },
    async wrong() {
      const wrong: string[] = []
      const slugs = await tellers()
      const undelivered = async () => {
        let found = 0
        for (const slug of slugs) found += (await sql(`select from ${slug}.facts where delivered_at is null`)).length
        return found
      }
      await until('every fact is delivered', async () => (await undelivered()) === 0, 60).catch(async () =>
        wrong.push(`${await undelivered()} facts are not delivered`),
      )
      for (const slug of slugs) {
        const receivers = await sql<{ receiver: string }>(`select distinct receiver from ${slug}.facts`)
        for (const { receiver } of receivers) {
          const told = await sql<{ subject: string; kind: string; at: Date | null }>(
            `select f.subject, f.kind, i.at from ${slug}.facts f left join ${receiver}.inbox i on i.writer = $1 and i.fact_id = f.id where f.receiver = $2 order by f.seq`,
            [slug, receiver],
          )
          const last = new Map<string, Date>()
          for (const { subject, kind, at } of told) {
            if (!at) wrong.push(`${kind} of ${subject} never came from ${slug} to ${receiver}`)
            else if ((last.get(subject) ?? at) > at) wrong.push(`${kind} of ${subject} came to ${receiver} before an earlier fact`)
            if (at) last.set(subject, at)
          }
        }
      }
      const items = await sql<{ key: string; title: string; status: string; version: number }>(
        `select key, title, status, version from launcher.action_items where key = any($1)`,
        [keys],
      )
      // Opened, closed and opened again, each once: a repetition or another order would leave another version or state.
      const right = new Set(items.filter(({ title, status, version }) => title === 'again' && status === 'OPEN' && version === 3).map(({ key }) => key))
      wrong.push(...keys.filter(key => !right.has(key)).map(key => `the item ${key} is ${JSON.stringify(items.find(item => item.key === key))}`))
      return wrong
    },
    async count(kind, subject) {
      let found = 0
      for (const slug of await tellers()) found += (await sql(`select from ${slug}.facts where kind = $1 and subject = $2`, [kind, subject])).length
      return found
    },
    async total() {
      let found = 0
      for (const slug of await tellers()) found += (await sql(`select from ${slug}.facts`)).length
      return found
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

import pg from 'pg'
import { StartError } from '../../start-error.ts'

/**
 * What every session of ours works with: times in UTC, and a bound on statements, waits for locks and idle transactions, so that no
 * process holds up others for long.
 */
const settings = { TimeZone: 'UTC', idle_in_transaction_session_timeout: '15s', lock_timeout: '5s', statement_timeout: '8s' }

/** Marks the statement that sets a session up, for readers of the server's log. */
export const sessionMark = '/* session */'

/**
 * Returns the statement that sets a new session up. A statement and not the start-up parameter `options`: PgBouncer refuses that or
 * drops it silently, depending on its version and settings.
 * @param schema where unqualified names are looked up; the server decides where it is missing
 */
export function sessionStatement(schema?: string): string {
  const all = Object.entries(schema ? { ...settings, search_path: schema } : settings)
  return `${sessionMark} select ${all.map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')}`
}

const marker = 'supergraph.session'
const markerSql = `select current_setting('${marker}', true) as mark`

/**
 * Checks that a client keeps its session between transactions. Advisory locks, prepared statements, NOTIFY and the settings above
 * belong to a session, so behind a pooler that shares sessions they end up with another client.
 *
 * A second client begins a transaction, by which a pooler in transaction mode hands it the session that the first client has just
 * used; the first client then finds itself in another one.
 * @param client a connection that nobody else uses
 * @param url    where the client is connected
 * @param server the address as errors name it
 * @throws StartError one line that names the pooler's address and the setting that mends it
 */
export async function requireOwnSession(client: pg.Client, url: string, server: string, timeoutMs: number): Promise<void> {
  const mark = crypto.randomUUID()
  const second = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  second.on('error', () => {})
  const ask = { text: markerSql, query_timeout: timeoutMs }
  try {
    await client.query({ text: 'select set_config($1, $2, false)', values: [marker, mark], query_timeout: timeoutMs } as pg.QueryConfig)
    await second.connect()
    await second.query('begin')
    const theirs = await second.query<{ mark: string | null }>(ask)
    const ours = await client.query<{ mark: string | null }>(ask)
    if (ours.rows[0]?.mark !== mark || theirs.rows[0]?.mark === mark) throw sharedSessions(server)
  } catch (error) {
    if (isOfPooler(error)) throw sharedSessions(server, error)
    throw error
  } finally {
    await second.end().catch(() => {})
  }
}

/** `Query read timeout` is how pg says that no session came free: the pooler has a single one, and the other client holds it. */
const isOfPooler = (error: unknown): boolean =>
  !(error instanceof StartError) && /statement pooling|transaction blocks not allowed|Query read timeout/i.test(error instanceof Error ? error.message : '')

const sharedSessions = (server: string, cause?: unknown) =>
  new StartError(
    `DATABASE_URL leads to ${server}, where a pooler lends its sessions to several clients in turn: set pool_mode = session there (PgBouncer) with room for every connection of ours, or name PostgreSQL itself`,
    cause,
  )

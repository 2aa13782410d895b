import pg from 'pg'
import { NotReady } from '../../platform/errors.ts'
import { StartError } from '../../start-error.ts'

/**
 * Settings of all our sessions: UTC, and limits for statements, lock waits and idle transactions, so that no process
 * blocks others for long.
 */
const settings = { TimeZone: 'UTC', idle_in_transaction_session_timeout: '15s', lock_timeout: '5s', statement_timeout: '8s' }

/** Marks the statement that sets a session up, for readers of the server's log. */
export const sessionMark = '/* session */'

const marker = 'supergraph.session'
const markerSql = `select current_setting('${marker}', true) as mark`

/** The settings that each connection made in its session, with a mark of its own, and the server as errors name it. */
const asked = new WeakMap<pg.ClientBase, { readonly settings: Readonly<Record<string, string>>; readonly server: string }>()

/**
 * Sets up a new session, and checks that the settings persist. It uses a statement instead of the start-up parameter
 * `options`, which PgBouncer rejects or drops silently, depending on its version and settings.
 * @param server the address as errors name it
 * @param schema schema of unqualified names @default the server's
 * @throws NotReady as `requireSession` does
 */
export async function setUpSession(client: pg.ClientBase, server: string, schema?: string): Promise<void> {
  const all = { ...settings, ...(schema && { search_path: schema }), [marker]: crypto.randomUUID() }
  await client.query(`${sessionMark} select ${Object.entries(all).map(([name, value]) => `set_config('${name}', '${value}', false)`)}`)
  asked.set(client, { settings: all, server })
  await requireSession(client)
}

/**
 * Checks that a connection still has the session that it set up: a pooler may give it another one, or reset it.
 * @throws NotReady with one line that names the pooler's address, the lost setting, and the setting that corrects it
 */
export async function requireSession(client: pg.ClientBase): Promise<void> {
  const session = asked.get(client)
  if (!session) return
  const names = Object.keys(session.settings)
  const { rows } = await client.query<{ found: readonly (string | null)[] }>(
    `${sessionMark} select array[${names.map(name => `current_setting('${name}', true)`)}] as found`,
  )
  const lost = names.filter((name, at) => rows[0]?.found[at] !== session.settings[name])
  if (lost.length > 0)
    throw new NotReady(
      sharedSessions(
        session.server,
        lost.filter(name => name !== marker),
      ),
    )
}

/**
 * Checks that a client keeps its session between transactions. Advisory locks, prepared statements, NOTIFY and the
 * settings above belong to a session, so behind a pooler that shares sessions they would affect another client.
 *
 * A second client begins a transaction, for which a pooler in transaction mode uses the session that the first client
 * has just used; the first client then finds itself in another one.
 * @param client a connection without other users
 * @param url    address to which the client is connected
 * @param server the address as errors name it
 * @throws StartError with one line that names the pooler's address and the setting that corrects it
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
    if (ours.rows[0]?.mark !== mark || theirs.rows[0]?.mark === mark) throw new StartError(sharedSessions(server))
  } catch (error) {
    if (isOfPooler(error)) throw new StartError(sharedSessions(server), error)
    throw error
  } finally {
    await second.end().catch(() => {})
  }
}

/**
 * pg reports `Query read timeout` when no session became free: the pooler has a single one, and the other client holds
 * it.
 */
const isOfPooler = (error: unknown): boolean =>
  !(error instanceof StartError) && /statement pooling|transaction blocks not allowed|Query read timeout/i.test(error instanceof Error ? error.message : '')

function sharedSessions(server: string, lost: readonly string[] = []): string {
  const what = lost.length > 0 ? ` and loses what they set (${lost.join(', ')})` : ''
  return `DATABASE_URL leads to ${server}, where a pooler lends its sessions to several clients in turn${what}: set pool_mode = session there (PgBouncer) with room for every connection of ours, or name PostgreSQL itself`
}

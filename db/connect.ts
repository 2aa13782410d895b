import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { ConnectionError, type Options, Sequelize } from 'sequelize'
import { NotReady } from '../platform/errors.ts'
import { isLeaving } from '../platform/sql/batch.ts'
import type { OpenPool } from '../platform/sql/pool.ts'
import { lineOf, StartError, systemCodeOf } from '../start-error.ts'
import { type Budget, createBudget } from './budget.ts'
import { paceAnswers } from './connection/pace-answers.ts'
import { requireOwnSession, requireSession, setUpSession } from './connection/session.ts'
import { watchClients } from './connection/watch-clients.ts'

/** A bounded set of connections to one database. */
export interface Connection {
  readonly sequelize: Sequelize
  /** Waits at most half a second for running statements, then closes every connection; safe to call twice. */
  close(): Promise<void>
}

/** The oldest supported major version of PostgreSQL. */
const oldestMajor = 16

const connectTimeoutMs = 5_000
const idleMs = 30_000

/**
 * Opens Sequelize on a database; connects at the first statement.
 * A restart of the database fails the running statements, never the process: the next statement reconnects. The same
 * holds for a silent connection.
 * @param poolSize maximum connections; a statement waits up to 10 s for a free one
 * @param silentMs time in ms without an answer to a statement after which its connection is cut @default 10000
 */
export function connect({ url, poolSize, log, silentMs }: { url: string; poolSize: number; log: Logger; silentMs?: number }): Connection {
  // `keepDefaultTimezone` is missing in the types of Sequelize 6; it and 'ignore' spare two SETs at the start of every session.
  const options: Options & { keepDefaultTimezone: boolean } = {
    dialect: 'postgres',
    dialectModule: { ...pg, Client: ListenedClient },
    pool: { max: poolSize, min: 0, idle: idleMs, evict: 5_000, acquire: 2 * connectTimeoutMs },
    logging: false,
    timezone: '+00:00',
    keepDefaultTimezone: true,
    dialectOptions: {
      clientMinMessages: 'ignore',
      application_name: 'supergraph',
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
    },
  }
  const { server } = placeOf(url)
  const sequelize = new Sequelize(url, options)
  const clients = watchClients(log, silentMs)
  sequelize.addHook('afterConnect', 'watch', async connection => {
    const client = connection as pg.Client & { pipeline: boolean; readonly connection: { readonly stream: Socket } }
    // Pipelines the reads of one turn of the event loop (platform/sql/statement.ts); Sequelize passes no such option
    // on.
    client.pipeline = true
    clients.watch(client)
    paceAnswers(client.connection.stream)
    giveUpWhenDismissed(connection as Dismissable)
    await setUp(client, server)
  })
  let closing: Promise<void> | undefined
  makeDo((sequelize as unknown as { connectionManager: Manager }).connectionManager, () => closing !== undefined)
  return {
    sequelize,
    close() {
      closing ??= clients.endWith(() => sequelize.close())
      return closing
    },
  }
}

/** Sets a new session up; a connection where that fails is closed, since Sequelize would forget it open. */
async function setUp(client: pg.Client, server: string): Promise<void> {
  try {
    await setUpSession(client, server)
  } catch (error) {
    void client.end().catch(() => {})
    throw new ConnectionError(error instanceof Error ? error : new Error(String(error)))
  }
}

/**
 * A connection with an error listener from its first moment. Sequelize adds its own listener slightly later; if the
 * server closed the connection in between, the unhandled error would end the process. The user of the connection gets
 * the error all the same.
 */
class ListenedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', () => {})
  }
}

/** The used part of Sequelize's connection manager. */
interface Manager {
  readonly pool: { readonly using: number }
  _connect(config: object): Promise<unknown>
}

/** Delay in ms before a new connection is requested from a server that had none left. */
const fullMs = 500

/**
 * Makes the pool wait for its existing connections when the server has none left, instead of failing callers. The pool
 * rejects callers that wait too long; without any connection it fails at once.
 */
function makeDo(manager: Manager, isClosing: () => boolean): void {
  const open = manager._connect.bind(manager)
  manager._connect = async config => {
    for (let left = (2 * connectTimeoutMs) / fullMs; ; left--) {
      try {
        return await open(config)
      } catch (error) {
        const isFull = (error as { parent?: { code?: string } }).parent?.code === '53300'
        if (!isFull || left === 0 || manager.pool.using === 0 || isClosing()) throw error
        await wait(fullMs)
      }
    }
  }
}

/** The members of a pg connection that Sequelize's pool checks before it hands the connection out. */
interface Dismissable {
  _invalid?: boolean
  readonly connection: { on(event: 'errorMessage', listener: (message: { code?: string }) => void): void }
}

/**
 * Fails the statement before the socket closes, because the pool would give the connection to the next caller in
 * between.
 */
function giveUpWhenDismissed(client: Dismissable): void {
  client.connection.on('errorMessage', message => {
    if (isLeaving(message)) client._invalid = true
  })
}

/** Opens pools, and checks their sessions. */
export interface PoolOpener extends OpenPool {
  /** Checks that pools that resolve unqualified names still have their sessions; rejects with `NotReady`. */
  checkSessions(): Promise<void>
}

/**
 * Creates the opener of bounded pools of plain pg connections, for libraries with their own SQL.
 * Like `connect`, the pools survive a restart of the database and silent connections; their end is bounded.
 * @param budget source of their sizes @default one of their own
 * @param silentMs as with `connect`
 */
export function createOpenPool({ url, log, budget = createBudget(), silentMs }: { url: string; log: Logger; budget?: Budget; silentMs?: number }): PoolOpener {
  const { server } = placeOf(url)
  const named: pg.Pool[] = []
  const open: OpenPool = ({ use, name, schema }) => {
    const pool = new pg.Pool({
      connectionString: url,
      max: budget.take(use, name),
      idleTimeoutMillis: idleMs,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: `supergraph ${name}`,
      onConnect: client => setUpSession(client, server, schema),
    })
    if (schema) named.push(pool)
    const clients = watchClients(log, silentMs)
    pool.on('connect', client => clients.watch(client as pg.Client))
    // The pool listens for errors of idle connections and passes them on.
    pool.on('error', () => {})
    const end = pool.end.bind(pool)
    return Object.assign(pool, { end: () => clients.endWith(end) })
  }
  return Object.assign(open, {
    async checkSessions() {
      await Promise.all(named.map(withSession))
    },
  })
}

async function withSession(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await requireSession(client)
  } finally {
    client.release()
  }
}

/**
 * Checks that connections of a database keep their sessions: while one of them is in a transaction, a pooler that
 * shares sessions must give another one to other clients.
 * @param others makes requests over other connections within that transaction
 * @throws NotReady with one line that names the pooler and the correction; other errors of the database unchanged
 */
export async function checkSessions(sequelize: Sequelize, others: () => Promise<void>): Promise<void> {
  try {
    await sequelize.transaction(async transaction => {
      await requireSession((transaction as unknown as { connection: pg.Client }).connection)
      await others()
    })
  } catch (error) {
    const { parent } = error as { parent?: unknown }
    throw parent instanceof NotReady ? parent : error
  }
}

/**
 * Connects, reads the server's version, and checks that a connection keeps its session.
 * @returns the major version, e.g. 18
 * @throws StartError one line that names the mistake in the address, never the password
 */
export async function checkConnection(url: string, timeoutMs = connectTimeoutMs): Promise<number> {
  const place = placeOf(url)
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs })
  client.on('error', () => {})
  let major: number
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    major = Math.floor(Number(rows[0]?.server_version_num) / 10_000)
    if (major >= oldestMajor) await requireOwnSession(client, url, place.server, timeoutMs)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`DATABASE_URL does not lead to a database: ${explain(error, place, timeoutMs)}`)
  } finally {
    await client.end().catch(() => {})
  }
  if (major >= oldestMajor) return major
  throw new StartError(`DATABASE_URL leads to PostgreSQL ${major} at ${place.server}: use PostgreSQL ${oldestMajor} or newer`)
}

interface Place {
  readonly server: string
  readonly user: string
  readonly database: string
  readonly password: string
}

function placeOf(url: string): Place {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new StartError('DATABASE_URL is not an address of a PostgreSQL database: write it as postgres://user:password@host:5432/database')
  }
  const host = parsed.hostname || parsed.searchParams.get('host') || 'localhost'
  return {
    server: `${host}:${parsed.port || '5432'}`,
    user: decoded(parsed.username),
    database: decoded(parsed.pathname.slice(1)),
    password: decoded(parsed.password),
  }
}

function explain(error: unknown, place: Place, timeoutMs: number): string {
  const { server, user, database, password } = place
  switch (systemCodeOf(error)) {
    case 'ECONNREFUSED':
      return `nothing listens at ${server}, start the server or correct host and port`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host of ${server} is unknown, correct it`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `${server} cannot be reached from here`
    case '28P01':
      return `${server} refuses the password of user "${user}"`
    case '28000':
      if (/no encryption|SSL off/.test(lineOf(error))) return `${server} takes encrypted connections only, add ?sslmode=verify-full`
      return `${server} does not let user "${user}" in (${lineOf(error)})`
    case '3D000':
      return `there is no database "${database}" at ${server}, create it`
    case '53300':
      return `${server} has no free connection`
  }
  const line = lineOf(error)
  if (/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_CERT)/.test(systemCodeOf(error)))
    return `the certificate of ${server} is not trusted here (${systemCodeOf(error)}), name its authority with &sslrootcert=FILE`
  if (/does not support SSL/.test(line)) return `${server} speaks no TLS, leave sslmode out`
  if (/timeout/i.test(line)) return `${server} did not answer within ${timeoutMs / 1000} seconds`
  if (/SASL|password must be a string/.test(line)) return `${server} asks for a password for user "${user}"`
  // A library's message may contain the password, which must not be printed.
  return `${server} answers: ${password ? line.replaceAll(password, '…') : line}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

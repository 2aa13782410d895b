import { resolve } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Config } from '../config.ts'
import { lineOf, StartError } from '../start-error.ts'
import { checkConnection, connect } from './connect.ts'
import { chooseAccount } from './embedded/account.ts'
import { findBinaries } from './embedded/binaries.ts'
import { type Cluster, createCluster, hasCluster, ownedFolders, readCluster, removeLeftovers, superuser } from './embedded/cluster.ts'
import { keepServer } from './embedded/keeper.ts'
import { disownPidFile, findOrphan, readPidFile, startServer } from './embedded/server.ts'
import { holds, lockFolder } from './lock.ts'

/** A PostgreSQL server of our own on 127.0.0.1, with its files in a data folder. */
export interface EmbeddedPostgres {
  /** Address of the database `postgres`, the superuser's password included: never log it. */
  readonly url: string
  /**
   * State in which the server was found: newly created, started, still running after its platform was killed, or
   * started after it was killed itself.
   */
  readonly recovered: 'fresh' | 'warm' | 'adopted' | 'after a crash'
  /** Address of another database of the same server. */
  databaseUrl(name: string): string
  /** Ends the server and waits for its end; safe to call twice. */
  stop(): Promise<void>
  /** Signals the server to end without waiting: for the last moment of a process that ends. */
  killNow(): void
}

export interface PostgresOptions {
  /** Data folder; created with mode 0700 if missing. */
  readonly folder: string
  readonly log: Logger
  /** PostgreSQL settings that are added to, or replace, the shipped ones. */
  readonly settings?: Readonly<Record<string, string>>
  /** Aborts the start: everything that was begun is ended again, and the promise rejects. */
  readonly signal?: AbortSignal
  /** Called when a server that ended by itself cannot be started again. @default the error ends the process */
  lost?(error: StartError): void
  /** Milliseconds before each attempt to start it again. @default at once, then up to 8 s, five times in all */
  readonly restartAfterMs?: readonly number[]
}

const fall = (error: StartError): void => {
  setImmediate(() => {
    throw error
  })
}

/**
 * Starts the PostgreSQL server of a data folder, and creates a missing one; accepts connections when it resolves.
 * A server that outlived its platform is taken over, with its settings. The folder is locked while the server runs,
 * unless the caller holds its lock already. A server that ends by itself is started again on the same port.
 * @throws StartError with one line that says what is wrong and what to do
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const lock = holds(options.folder) ? null : await lockFolder(options.folder)
  try {
    return await start(lock?.folder ?? resolve(options.folder), options, () => lock?.release())
  } catch (error) {
    lock?.release()
    if (error instanceof StartError || options.signal?.aborted) throw error
    throw new StartError(`the database of data folder ${options.folder} does not start: ${lineOf(error)}`, error)
  }
}

async function start(
  folder: string,
  { log, settings = {}, signal: abort, lost = fall, restartAfterMs }: PostgresOptions,
  release: () => void,
): Promise<EmbeddedPostgres> {
  const began = performance.now()
  await removeLeftovers(folder)
  const account = chooseAccount(ownedFolders(folder))
  const isNew = !hasCluster(folder)
  const cluster = isNew ? await createCluster(folder, account, findBinaries(account, folder), abort) : readCluster(folder)
  const orphan = isNew ? null : await findOrphan(cluster, abort)
  const wasKilled = !orphan && readPidFile(cluster) !== null
  if (wasKilled) disownPidFile(cluster)
  const server = orphan ?? (await startServer(cluster, account, findBinaries(account, folder), settings, abort))
  const recovered = isNew ? 'fresh' : orphan ? 'adopted' : wasKilled ? 'after a crash' : 'warm'
  log.info({ port: server.port, server: server.process.pid, recovered, ms: Math.round(performance.now() - began) }, 'PostgreSQL is ready')

  const databaseUrl = (name: string) => addressOf(cluster, server.port, name)
  const kept = keepServer({
    server,
    restart(port, giveUp) {
      if (readPidFile(cluster) !== null) disownPidFile(cluster)
      return startServer(cluster, account, findBinaries(account, folder), { ...settings, port: String(port) }, giveUp)
    },
    serverLog: cluster.serverLog,
    log,
    lost,
    ...(restartAfterMs && { pausesMs: restartAfterMs }),
  })
  return {
    url: databaseUrl('postgres'),
    recovered,
    databaseUrl,
    stop: () => kept.stop().finally(release),
    killNow: kept.killNow,
  }
}

const addressOf = ({ password }: Pick<Cluster, 'password'>, port: number, name: string) =>
  `postgres://${superuser}:${password}@127.0.0.1:${port}/${encodeURIComponent(name)}`

/**
 * Returns the address of the database of a platform that runs at this moment, for other processes; null when none runs.
 * The address contains the superuser's password: never log it.
 */
export function runningDatabase(folder: string): string | null {
  if (!hasCluster(folder)) return null
  const cluster = readCluster(folder)
  const running = readPidFile(cluster)
  return running?.ready ? addressOf(cluster, running.port, 'postgres') : null
}

/**
 * Opens the database of `DATABASE_URL`, or of the platform that runs in the data folder, for a command of an operator: one connection, which
 * the stack closes.
 * @throws StartError in one line when there is none, or it cannot be reached
 */
export async function openPlatformDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>, stack: AsyncDisposableStack): Promise<Sequelize> {
  const url = databaseUrl ?? runningDatabase(dataDir)
  if (!url) throw new StartError(`no platform runs in ${dataDir}: start it, or name its database with DATABASE_URL`)
  await checkConnection(url)
  const { sequelize, close } = connect({ url, poolSize: 1, log: pino({ level: 'silent' }) })
  stack.defer(close)
  return sequelize
}

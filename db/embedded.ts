import { resolve } from 'node:path'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../start-error.ts'
import { chooseAccount } from './embedded/account.ts'
import { findBinaries } from './embedded/binaries.ts'
import { type Cluster, createCluster, hasCluster, ownedFolders, readCluster, removeLeftovers, superuser } from './embedded/cluster.ts'
import { keepServer } from './embedded/keeper.ts'
import { disownPidFile, findOrphan, readPidFile, startServer } from './embedded/server.ts'
import { holds, lockFolder } from './lock.ts'

/** A PostgreSQL of our own on 127.0.0.1, made of the files in one data folder. */
export interface EmbeddedPostgres {
  /** Address of the database `postgres`, the superuser's password included: never log it. */
  readonly url: string
  /** How the server was found: made anew, started, still running from a killed process, or started after it was killed. */
  readonly recovered: 'fresh' | 'warm' | 'adopted' | 'after a crash'
  /** Address of another database of the same server. */
  databaseUrl(name: string): string
  /** Ends the server and waits until it is gone; safe to call twice. */
  stop(): Promise<void>
  /** Tells the server to end without waiting: for the last moment of a process that is going down. */
  killNow(): void
}

export interface PostgresOptions {
  /** Data folder; made with mode 0700 when absent. */
  readonly folder: string
  readonly log: Logger
  /** PostgreSQL settings that replace or join the shipped ones. */
  readonly settings?: Readonly<Record<string, string>>
  /** Abandons the start: what was begun is ended again, and the promise rejects. */
  readonly signal?: AbortSignal
  /** Called when a server that ended by itself cannot be started again. @default the process falls over with that error */
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
 * Starts the PostgreSQL of a data folder and makes it first when there is none; ready for connections when it resolves.
 * A server that outlived its platform is taken over, with the settings it runs with. The folder is locked for as long as the
 * server runs, unless the caller holds its lock already. A server that ends by itself is started again on the same port.
 * @throws StartError one line that says what is wrong and what to do
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
 * Where the database of a platform is that runs in this moment, for whoever looks into it from another process; null when none runs.
 * The superuser's password is in it: never log it.
 */
export function runningDatabase(folder: string): string | null {
  if (!hasCluster(folder)) return null
  const cluster = readCluster(folder)
  const running = readPidFile(cluster)
  return running?.ready ? addressOf(cluster, running.port, 'postgres') : null
}

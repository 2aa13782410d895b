import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, fchownSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { lineOf, StartError, systemCodeOf } from '../../start-error.ts'
import { identify, isAlive, type ProcessIdentity, programOf, signal } from '../process-table.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { type Cluster, environment, reach, superuser } from './cluster.ts'

/** A running server. */
export interface Server {
  readonly process: ProcessIdentity
  readonly port: number
  /** Set only if this process started the server. */
  readonly child?: ChildProcess
}

/** Settings for one platform on one machine: little memory, loopback TCP only (socket paths break at 107 characters). */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '100',
  shared_buffers: '32MB',
  jit: 'off',
  io_workers: '1',
  autovacuum_max_workers: '1',
  autovacuum_worker_slots: '2',
  max_worker_processes: '2',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  // The server log is about the server only: statements and rejected rows may contain secrets.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}

const startTimeoutMs = 120_000
const stopTimeoutMs = 20_000
const serverLogBytes = 1_048_576

/**
 * Starts the server of a cluster on a free loopback port.
 * @param extra settings that are added to, or replace, the shipped ones; `port` fixes the port
 * @throws StartError with the last line of the server's log
 */
export async function startServer(
  cluster: Cluster,
  account: Account | null,
  binaries: Binaries,
  extra: Readonly<Record<string, string>>,
  abort?: AbortSignal,
): Promise<Server> {
  const patience = performance.now() + stopTimeoutMs
  for (let turn = 1; ; ) {
    const port = Number(extra.port ?? (await freePort()))
    const { child, logStart } = spawnServer(cluster, account, binaries, { ...settings, ...extra, port: String(port) })
    const failed = await readiness(child, cluster, logStart, abort)
    if (failed === null) return { process: identify(child.pid!) ?? { pid: child.pid!, startedAt: '' }, port, child }
    // A port that was free a moment ago may be taken when PostgreSQL binds it.
    if (/could not create any TCP\/IP sockets/.test(failed) && turn++ < 4) continue
    // Sessions of a killed server need a moment to notice; until then PostgreSQL does not open their files.
    if (/pre-existing shared memory block/.test(failed) && performance.now() < patience) await wait(50)
    else {
      // The files belong to another major version, which this program cannot read.
      const foreign = /files are incompatible with server/.test(failed)
      const sentence = `the database of data folder ${cluster.folder} does not start: ${lastWord(failed)} (see ${cluster.serverLog})`
      throw new StartError(
        foreign ? `${sentence}: start the version that made it, and take the data over by pg_dump` : sentence,
        undefined,
        foreign ? 'schema' : null,
      )
    }
  }
}

function lastWord(said: string): string {
  return /(?:FATAL|PANIC): +(.*)/.exec(said)?.[1] ?? (said.trim().split('\n').at(-1) || 'it ended without a word')
}

function spawnServer(cluster: Cluster, account: Account | null, binaries: Binaries, all: Readonly<Record<string, string>>) {
  const { path, options } = reach(account, cluster.data)
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // To a file instead of a pipe: the server may outlive this process and still needs a place to write.
  const out = openSync(cluster.serverLog, 'a', 0o600)
  if (account) fchownSync(out, account.uid, account.gid)
  if (statSync(cluster.serverLog).size > serverLogBytes) truncateSync(cluster.serverLog)
  const logStart = statSync(cluster.serverLog).size
  try {
    // Detached: Ctrl-C signals the whole process group, and must not end the database before the processes that write
    // to it.
    const child = spawn(binaries.postgres, ['-D', path, ...flags], { ...options, env: environment, detached: true, stdio: ['ignore', out, out] })
    child.unref()
    return { child, logStart }
  } finally {
    closeSync(out)
  }
}

/** Waits until the server accepts connections. @returns null when it does, else its last output */
async function readiness(child: ChildProcess, cluster: Cluster, logStart: number, abort?: AbortSignal): Promise<string | null> {
  let ended = false
  let failure: string | undefined
  child.once('exit', () => {
    ended = true
  })
  child.once('error', error => {
    failure = error.message
  })
  for (const deadline = performance.now() + startTimeoutMs; !ended && failure === undefined; await wait(10)) {
    const found = readPidFile(cluster)
    if (found?.pid === child.pid && found?.ready) return null
    if (abort?.aborted) {
      await stopServer({ process: identify(child.pid!) ?? { pid: child.pid!, startedAt: '' }, port: 0 })
      throw abort.reason
    }
    if (performance.now() > deadline) {
      signal(child.pid!, 'SIGQUIT')
      return `it was not ready after ${startTimeoutMs / 1000} seconds`
    }
  }
  return failure ?? readFileSync(cluster.serverLog).subarray(logStart).toString()
}

/** Reads the server's `postmaster.pid`: pid on line 1, port on line 4, state on line 8. */
export function readPidFile(cluster: Cluster): { pid: number; port: number; ready: boolean } | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

/**
 * Finds the server of a cluster that outlived its platform; null when there is none.
 * Call it only under the folder's lock: nothing else distinguishes an orphan from the server of a running platform.
 * @throws StartError when a server runs on these files and does not answer
 */
export async function findOrphan(cluster: Cluster, abort?: AbortSignal): Promise<Server | null> {
  let last: unknown
  for (const deadline = performance.now() + startTimeoutMs / 2; performance.now() < deadline; await wait(50)) {
    abort?.throwIfAborted()
    const found = readPidFile(cluster)
    const running = found && identify(found.pid)
    // If the pid belongs to another program, the machine or container has been restarted since.
    if (!found || !running || !/^postgres/.test(programOf(found.pid))) return null
    // Not ready: the server is recovering or shutting down.
    if (!found.ready) continue
    try {
      return (await servesThisFolder(cluster, found.port)) ? { process: running, port: found.port } : null
    } catch (error) {
      // A ready server listens and knows its password, so this pid belongs to the server of other files.
      const refused = ['28P01', 'ECONNREFUSED'].includes(systemCodeOf(error))
      if (refused && readPidFile(cluster)?.ready) return null
      last = error
    }
  }
  const pid = readPidFile(cluster)?.pid
  throw new StartError(`the database of data folder ${cluster.folder} runs as process ${pid} and does not answer (${lineOf(last)}): stop it and start again`)
}

/** Whether the server on that port uses these files, not a copy of them: it must see a file that is created now. */
async function servesThisFolder(cluster: Cluster, port: number): Promise<boolean> {
  const name = `seen-${randomBytes(8).toString('hex')}`
  const path = join(cluster.data, name)
  const client = new pg.Client({ host: '127.0.0.1', port, user: superuser, password: cluster.password, database: 'postgres', connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  writeFileSync(path, '')
  try {
    await client.connect()
    const { rows } = await client.query('select (pg_stat_file($1, true)).size is not null as seen', [name])
    return rows[0].seen
  } finally {
    rmSync(path, { force: true })
    await client.end().catch(() => {})
  }
}

/**
 * Allows PostgreSQL to start although its pid file names an existing process: a zombie, or another program with a
 * reused pid.
 * PostgreSQL ignores the pid of its own parent. The rest of the file stays, because PostgreSQL uses it to find and
 * await the remaining sessions of a killed server.
 */
export function disownPidFile(cluster: Cluster): void {
  const path = join(cluster.data, 'postmaster.pid')
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^.*/, String(process.pid)))
}

/** Ends a server: closes its sessions and writes its data. After 20 s the server is killed. */
export async function stopServer({ process }: Server): Promise<void> {
  for (const [name, timeoutMs] of [
    ['SIGINT', stopTimeoutMs],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!isAlive(process) || !signal(process.pid, name)) return
    for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await wait(5)) if (!isAlive(process)) return
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

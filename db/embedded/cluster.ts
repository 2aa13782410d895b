import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { StartError, systemCodeOf } from '../../start-error.ts'
import { identify, isAlive, isGroupAlive, type ProcessIdentity, signal } from '../process-table.ts'
import { type Account, canRead, nobody } from './account.ts'
import type { Binaries } from './binaries.ts'

/** The files of one database server inside a data folder. */
export interface Cluster {
  /** The data folder that contains the cluster. */
  readonly folder: string
  /** PostgreSQL's own data directory. */
  readonly data: string
  /** The server's log file. */
  readonly serverLog: string
  readonly password: string
}

/** The superuser of an embedded server. */
export const superuser = 'postgres'

const home = 'postgres'

/**
 * Environment of the programs: ours contains secrets, and PGDATA or PGOPTIONS of the user's shell would have effect.
 */
export const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Returns the folders whose owner determines the account of a data folder's server. */
export const ownedFolders = (folder: string): string[] => [join(folder, home), folder]

/** Whether a data folder holds a finished cluster. */
export const hasCluster = (folder: string): boolean => existsSync(join(folder, home))

/** Reads the cluster of a data folder. @throws StartError when its password cannot be read */
export function readCluster(folder: string): Cluster {
  const path = join(folder, home, 'password')
  try {
    return clusterAt(folder, readFileSync(path, 'utf8').trim())
  } catch (error) {
    const why = systemCodeOf(error) === 'ENOENT' ? 'is missing: put it back' : `cannot be read (${systemCodeOf(error)}): start as the user who owns it`
    throw new StartError(`${path}, the password of the database, ${why}, or set DATA_DIR to another folder`, error)
  }
}

const clusterAt = (folder: string, password: string): Cluster => ({
  folder,
  password,
  data: join(folder, home, 'data'),
  serverLog: join(folder, home, 'server.log'),
})

/**
 * Returns the path of the data directory for a program.
 * An account that cannot enter the folders above it still starts inside it, because the working directory is entered
 * before root's rights are dropped; `/proc/self/cwd` names that directory for the program and its children.
 */
export function reach(account: Account | null, data: string): { path: string; options: { cwd: string; uid?: number; gid?: number } } {
  if (account === null || canRead(account, data)) return { path: data, options: { cwd: data, ...account } }
  if (process.platform !== 'linux') throw new StartError(`data folder ${data} cannot be entered by user ${account.uid}: start as an ordinary user`)
  return { path: '/proc/self/cwd', options: { cwd: data, ...account } }
}

/**
 * Creates a cluster under a temporary name and renames it when it is complete, so that the final name always means a
 * complete cluster.
 * Its password is generated and stored in the folder, readable by its owner only.
 * @throws StartError with the last line of initdb; then, and after an abort, all of its files are removed
 */
export async function createCluster(folder: string, account: Account | null, binaries: Binaries, abort?: AbortSignal): Promise<Cluster> {
  const fresh = join(folder, `${home}.new-${randomBytes(4).toString('hex')}`)
  const cluster = clusterAt(folder, randomBytes(24).toString('hex'))
  const data = join(fresh, 'data')
  const password = join(fresh, 'password')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(password, `${cluster.password}\n`, { mode: 0o600 })
  // initdb needs a user with a name, which the owner of a mounted folder may not have on this machine.
  const maker = account && nobody
  if (maker) giveTo(maker, fresh)
  try {
    await runInitdb(binaries, maker, data, fresh, abort)
  } catch (error) {
    await endInitdb(fresh)
    await rm(fresh, removal).catch(() => {})
    throw error
  }
  if (account && account.uid !== nobody.uid) giveTo(account, fresh)
  rmSync(join(fresh, 'initdb.pid'), { force: true })
  renameSync(fresh, join(folder, home))
  return cluster
}

function giveTo(account: Account, folder: string): void {
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) lchownSync(join(folder, path), account.uid, account.gid)
}

function runInitdb(binaries: Binaries, account: Account | null, data: string, fresh: string, abort?: AbortSignal): Promise<void> {
  const { path, options } = reach(account, data)
  const wishes = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--auth=scram-sha-256', '--no-instructions']
  const child = spawn(binaries.initdb, ['-D', path, `--username=${superuser}`, '--pwfile=../password', ...wishes], {
    ...options,
    env: environment,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (child.pid) writeFileSync(join(fresh, 'initdb.pid'), JSON.stringify(identify(child.pid)))
  let said = ''
  child.stderr.on('data', chunk => {
    said = `${said}${chunk}`.slice(-4_000)
  })
  return new Promise((resolve, reject) => {
    if (abort?.aborted) return reject(abort.reason)
    abort?.addEventListener('abort', () => reject(abort.reason), { once: true })
    child.once('error', reject)
    child.once('close', (code, killedBy) => {
      if (code === 0) return resolve()
      const lines = said.trim().split('\n')
      const last = lines.find(line => /error:|FATAL:/.test(line)) ?? lines.at(-1)
      const advice = /could not look up effective user ID/.test(said) ? ': give this user a line in /etc/passwd, or set DATABASE_URL' : ''
      reject(new StartError(`the database in ${fresh} cannot be made: ${last || `initdb ended with ${code ?? killedBy}`}${advice}`))
    })
  })
}

const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }

/** Removes incomplete clusters of killed starts, and ends an initdb that still runs. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (!/^(postgres|postgresql-.*)\.new-[0-9a-f]+$/.test(name)) continue
    const path = join(folder, name)
    await endInitdb(path)
    await rm(path, removal).catch(() => {})
  }
}

async function endInitdb(fresh: string): Promise<void> {
  let orphan: ProcessIdentity | null
  try {
    orphan = JSON.parse(readFileSync(join(fresh, 'initdb.pid'), 'utf8'))
  } catch {
    // The start was killed before it wrote the pid: initdb does not run, or ends by itself once its files are removed.
    return
  }
  if (!orphan || !isAlive(orphan)) return
  // Given time, the PostgreSQL process reaches the end of its input and releases its shared memory.
  signal(orphan.pid, 'SIGKILL')
  for (const deadline = performance.now() + 1_000; isGroupAlive(orphan.pid) && performance.now() < deadline; ) await wait(10)
  signal(-orphan.pid, 'SIGKILL')
}

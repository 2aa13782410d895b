import { accessSync, constants, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { StartError, systemCodeOf } from '../start-error.ts'
import { identify, isAlive, type ProcessIdentity } from './process-table.ts'

/** The right of one process to a data folder. */
export interface FolderLock {
  /** The data folder's real path. */
  readonly folder: string
  /** Whether the former holder was killed and left its lock behind. */
  readonly recovered: boolean
  /** Releases the folder; safe to call twice. Synchronous, so that it also works while a process ends. */
  release(): void
}

const held = new Set<string>()
const fileName = 'lock'

/** Whether this process holds the lock of the folder. */
export const holds = (folder: string): boolean => held.has(realOr(folder))

/**
 * Locks the data folder for this process, and creates a missing one with mode 0700.
 * A lock whose holder no longer runs is taken over, and reported as `recovered`.
 * @throws StartError with one line that names the holder, or says why the folder cannot be used
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const real = openFolder(folder)
  const path = join(real, fileName)
  const self = identify(process.pid)!
  // The number of turns is limited: each but the last ends with a lock that vanished or was taken over.
  for (let turn = 0; turn < 20; turn++) {
    if (create(path, self)) return hold(real, false)
    const holder = await readHolder(path)
    if (holder === 'gone') continue
    if (holder !== null && isAlive(holder)) throw inUse(folder, holder.pid)
    if (await replace(path, holder, self, folder)) return hold(real, true)
  }
  throw new StartError(`data folder ${folder} is being locked by several processes at once: start again`)
}

function hold(folder: string, recovered: boolean): FolderLock {
  held.add(folder)
  return {
    folder,
    recovered,
    release() {
      if (held.delete(folder)) rmSync(join(folder, fileName), { force: true })
    },
  }
}

/**
 * Replaces the lock of an ended process. Two starts may see the same stale lock; the second must not remove the lock
 * that the first has just created. So a start holds `lock.taking` while it replaces a lock, and checks the lock again
 * under it.
 */
async function replace(path: string, dead: ProcessIdentity | null, self: ProcessIdentity, folder: string): Promise<boolean> {
  const taking = `${path}.taking`
  if (!create(taking, self)) {
    const other = await readHolder(taking)
    if (other !== 'gone' && (other === null || !isAlive(other))) rmSync(taking, { force: true })
    else await wait(20)
    return false
  }
  try {
    const holder = await readHolder(path)
    if (holder === 'gone' || holder?.pid !== dead?.pid || holder?.startedAt !== dead?.startedAt) return false
    const fresh = `${path}.${self.pid}`
    writeFileSync(fresh, JSON.stringify(self), { mode: 0o600 })
    renameSync(fresh, path)
    return true
  } catch (error) {
    throw unusable(folder, error)
  } finally {
    rmSync(taking, { force: true })
  }
}

function create(path: string, self: ProcessIdentity): boolean {
  try {
    writeFileSync(path, JSON.stringify(self), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false
    throw unusable(dirname(path), error)
  }
}

/** Returns the creator of a lock file; null when the file is unreadable, 'gone' when there is no such file. */
async function readHolder(path: string): Promise<ProcessIdentity | null | 'gone'> {
  // A new file is empty until its holder has written it, so it is read again for a moment before it counts as broken.
  for (let turn = 0; turn < 25; turn++) {
    try {
      const { pid, startedAt } = JSON.parse(readFileSync(path, 'utf8'))
      if (typeof pid === 'number' && typeof startedAt === 'string') return { pid, startedAt }
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return 'gone'
      if (systemCodeOf(error) !== '') throw unusable(dirname(path), error)
    }
    await wait(20)
  }
  return null
}

/** Creates a missing folder, and ensures that this process may read and write it. Returns its real path. */
function openFolder(folder: string): string {
  try {
    makeFolder(resolve(folder))
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return realpathSync(folder)
  } catch (error) {
    throw unusable(folder, error)
  }
}

/** Like `mkdir -p`; Node's own never ends where no folders can be created, as in /proc. */
function makeFolder(folder: string, below = false): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) throw Object.assign(new Error('it is a file'), { code: below ? 'ENOTDIR' : 'EEXIST' })
  if (dirname(folder) !== folder) makeFolder(dirname(folder), true)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Two processes start at the same time.
    if (systemCodeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}

function unusable(folder: string, error: unknown): StartError {
  const reasons: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EEXIST: 'it is a file',
    ENOTDIR: 'a part of the path is a file',
    ENOENT: 'no folder can be made there',
  }
  const code = systemCodeOf(error)
  if (code === '') throw error
  const owner = ownerOf(folder)
  const uid = process.getuid?.()
  const whose = owner !== null && uid !== undefined && owner !== uid && code === 'EACCES' ? `, it belongs to user ${owner} and this is user ${uid}` : ''
  return new StartError(`data folder ${folder} cannot be used (${reasons[code] ?? code}${whose}): set DATA_DIR to a folder that can be written`, error)
}

const inUse = (folder: string, pid: number) => new StartError(`data folder ${folder} is in use by process ${pid}: stop it, or set DATA_DIR to another folder`)

function ownerOf(path: string): number | null {
  try {
    return statSync(path).uid
  } catch {
    return null
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCluster, readCluster, removeLeftovers } from '../../../db/embedded/cluster.ts'
import { findOrphan, stopServer } from '../../../db/embedded/server.ts'
import { lockFolder } from '../../../db/lock.ts'
import { programOf, signal } from '../../../db/process-table.ts'

/** Where the workers read the folder of the run: what lies in it is removed with it. */
export const runFolderVariable = 'SUPERGRAPH_TEST_FOLDER'

const prefix = 'supergraph-test-run-'
const memory = '/dev/shm'
const neededBytes = 1_073_741_824

/** Makes the folder of one test run, after removing those of runs that were killed. */
export async function openRunFolder(): Promise<string> {
  for (const place of new Set([memory, tmpdir()])) await removeStaleRuns(place)
  return newTestFolder()
}

/** Makes a folder in memory where there is room for it (containers often have 64 MB), else on disk. */
export const newTestFolder = (): string => mkdtempSync(join(hasRoom(memory) ? memory : tmpdir(), prefix))

/** Removes a run's folder with everything in it. */
export const removeRunFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })

/** Ends and removes what runs that were killed left behind. Runs that are under way hold their folder's lock and stay. */
async function removeStaleRuns(place: string): Promise<void> {
  if (!existsSync(place)) return
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue
    const folder = join(place, name)
    try {
      if (!existsSync(join(folder, 'lock')) && Date.now() - statSync(folder).mtimeMs < 60_000) continue
      const lock = await lockFolder(folder)
      try {
        await removeLeftovers(folder)
        const orphan = hasCluster(folder) ? await findOrphan(readCluster(folder)) : null
        if (orphan) await stopServer(orphan)
        removeRunFolder(folder)
      } finally {
        lock.release()
      }
    } catch {
      // In use by another run or by somebody else: must not be removed.
    }
  }
}

function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize >= neededBytes
  } catch {
    return false
  }
}

/** Where a server that a worker shares among its tests leaves its process id, in a folder of its own: workers end without a word. */
export const pidFile = 'server.pid'

/** Ends the servers that workers have left behind. */
export function endServers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name, pidFile)
    if (!existsSync(file)) continue
    const pid = Number(readFileSync(file, 'utf8'))
    // The pid of an ended run may belong to another process by now.
    if (['nats-server', 'redis-server'].includes(programOf(pid) ?? '')) signal(pid, 'SIGKILL')
  }
}

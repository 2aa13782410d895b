import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Which files of a project are looked at; paths are from its root, with forward slashes. */
export interface Watched {
  /** Folders, with everything below them. */
  readonly folders: readonly string[]
  /** Whether a file in one of them, or directly in the root, counts. */
  counts(path: string): boolean
}

/** Knows what changed in a project. */
export interface Watcher {
  /** Resolves when files have changed and then been quiet for a moment: their paths, those of removed ones too. */
  changes(): Promise<readonly string[]>
  /** Returns the changes until now, without waiting; each is returned once. */
  look(): readonly string[]
  close(): void
}

/** After an event nothing may happen for so long, in milliseconds: an editor's save is several steps, a checkout many. */
const quietMs = 100
/** Some file systems send no events; there one waits a little longer. */
const anywayMs = 2_000

/**
 * Watches a project. Events only say when to look: what changed is found by comparing files with how they were, so that an
 * editor that writes beside a file and renames, or a folder that is moved in, is seen like any other change.
 */
export function watchProject(root: string, { folders, counts }: Watched): Watcher {
  const watchers = new Map<string, FSWatcher>()
  let known = scan()
  let waiting: ((paths: readonly string[]) => void) | null = null
  let timer: NodeJS.Timeout | undefined
  const anyway = setInterval(tell, anywayMs)

  function tell(): void {
    if (!waiting) return
    const changed = look()
    if (changed.length === 0) return
    waiting(changed)
    waiting = null
  }

  function wake(): void {
    clearTimeout(timer)
    timer = setTimeout(tell, quietMs)
  }

  function look(): readonly string[] {
    const now = scan()
    const changed = [...new Set([...known.keys(), ...now.keys()])].filter(path => known.get(path) !== now.get(path))
    known = now
    return changed.sort()
  }

  /** A value that differs between two states of a file. */
  function scan(): Map<string, string> {
    const stamps = new Map<string, string>()
    const met = new Set<string>()
    const read = (folder: string, deep: boolean) => {
      // The watch starts before the folder is read, so that a file that appears in between causes an event.
      listen(folder)
      met.add(folder)
      for (const entry of entriesOf(join(root, folder))) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory()) {
          if (deep) read(path, true)
        } else if (counts(path)) {
          const found = statSync(join(root, path), { throwIfNoEntry: false })
          if (found) stamps.set(path, `${found.mtimeMs} ${found.size} ${found.ino}`)
        }
      }
    }
    read('', false)
    for (const folder of folders) read(folder, true)
    for (const [folder, watcher] of watchers) {
      if (met.has(folder)) continue
      watcher.close()
      watchers.delete(folder)
    }
    return stamps
  }

  function listen(folder: string): void {
    if (watchers.has(folder)) return
    try {
      const watcher = watch(join(root, folder), wake)
      watcher.on('error', () => {
        watcher.close()
        watchers.delete(folder)
      })
      watchers.set(folder, watcher)
    } catch {
      // The folder is missing or no watches are left: it is compared anyway.
    }
  }

  return {
    look,
    changes: () =>
      new Promise(resolve => {
        waiting = resolve
        // Changes that happened while nobody waited.
        wake()
      }),
    close() {
      clearInterval(anyway)
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

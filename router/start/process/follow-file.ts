import { readFileSync, type Stats, unwatchFile, watchFile } from 'node:fs'
import { doFor } from '../../../platform/caller/cause.ts'

/** Interval in ms at which a file is checked: the system's change events miss files that are replaced, or mounted. */
const everyMs = 1000

/** A file that is looked at. */
export interface Followed {
  /** Checks the file at once. */
  look(): void
  stop(): void
}

/**
 * Calls back with a file's text whenever it has changed, also behind a link that was redirected; not when the file is
 * gone.
 * @param known the last known text
 * @param ms    interval of the checks @default 1000
 */
export function followFile(path: string, known: string, changed: (text: string) => void, ms = everyMs): Followed {
  let last = known
  const read = () => {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch {
      // The file is gone or about to be replaced: the next check will tell.
      return
    }
    if (text === last) return
    last = text
    changed(text)
  }
  const look = (now: Stats) => now.ino !== 0 && read()
  doFor(null, () => {
    watchFile(path, { interval: ms, persistent: false }, look)
    read()
  })
  return { look: read, stop: () => unwatchFile(path, look) }
}

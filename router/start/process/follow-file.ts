import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { doFor } from '../../../platform/caller/cause.ts'

/** Interval in ms at which a file is checked: the system's change events miss files that are replaced, or mounted. */
const everyMs = 1000

/** A file that is looked at. */
export interface Followed {
  /** Checks the file at once. */
  look(): void
  stop(): void
}

export interface FollowOptions {
  /** Called at each check at which the file cannot be read. @default it is not reported */
  unreadable?(error: unknown): void
}

/**
 * Calls back with a file's text whenever it has changed, also behind a link that was redirected; not when the file is
 * gone.
 * @param known the last known text; null when none is known
 */
export function followFile(path: string, known: string | null, changed: (text: string) => void, { unreadable = () => {} }: FollowOptions = {}): Followed {
  let last = known
  const read = () => {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (error) {
      // The file is gone or about to be replaced: the next check will tell.
      return unreadable(error)
    }
    if (text === last) return
    last = text
    changed(text)
  }
  const look = () => read()
  doFor(null, () => {
    watchFile(path, { interval: everyMs, persistent: false }, look)
    read()
  })
  return { look: read, stop: () => unwatchFile(path, look) }
}

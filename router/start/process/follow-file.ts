import { readFileSync, type Stats, unwatchFile, watchFile } from 'node:fs'
import { doFor } from '../../../platform/caller/cause.ts'

/** How often a file is looked at, in milliseconds: a system's own news of changes miss files that are replaced, or mounted. */
const everyMs = 1000

/** A file that is looked at. */
export interface Followed {
  /** Looks at once. */
  look(): void
  stop(): void
}

/**
 * Hands over a file's text whenever it is another one, also behind a link that leads elsewhere by then; not when the file is gone.
 * @param known the text that it had, maybe a while ago
 * @param ms    between looks @default 1000
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

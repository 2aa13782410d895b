import type { Logger } from 'pino'

/** A pending write. It may have succeeded without an answer: writing it again changes nothing. */
interface Pending {
  readonly id: string
  readonly since: number
  write(): Promise<unknown>
}

/** Maximum number and time of pending writes, and maximum tried at once. */
const mostWaiting = 20_000
const longestMs = 60 * 60_000
const mostTogether = 200
/** Pause in ms between rounds: doubled after each failed one, up to a maximum. */
const [soonestMs, latestMs] = [200, 5_000]

/** Whether the entry's content caused the failure, and not an unavailable database (classes of SQLSTATE). */
export const isOfEntry = (cause: unknown): boolean => /^2[23]/.test((cause as { parent?: { code?: string } } | null)?.parent?.code ?? '')

/**
 * Retries writes that must not be lost, in rounds, until the database is available. A process that is killed meanwhile
 * loses them.
 */
export function createLater(log: Pick<Logger, 'error' | 'warn'>) {
  const waiting = new Map<string, Pending>()
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | undefined
  let pauseMs = soonestMs

  const goOn = () => {
    if (timer || round || waiting.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void tryAll()
    }, pauseMs)
  }

  function tryAll(): Promise<void> {
    round ??= writeAll().finally(() => {
      round = undefined
      goOn()
    })
    return round
  }

  async function writeAll(): Promise<void> {
    const all = [...waiting.values()]
    for (let at = 0; at < all.length; at += mostTogether) {
      const some = all.slice(at, at + mostTogether)
      const written = await Promise.all(some.map(one))
      if (written.some(Boolean)) pauseMs = soonestMs
      else {
        // The database is unavailable, so the other entries are not tried.
        pauseMs = Math.min(2 * pauseMs, latestMs)
        return
      }
    }
  }

  async function one({ id, since, write }: Pending): Promise<boolean> {
    try {
      await write()
    } catch (error) {
      if (!isOfEntry(error) && performance.now() - since < longestMs) return false
      log.error({ err: error, call: id }, 'outcome of a call could not be stored')
    }
    waiting.delete(id)
    return true
  }

  return {
    /** Adds a failed write. @throws the cause, when the entry itself is invalid or too many wait */
    keep(id: string, cause: unknown, write: () => Promise<unknown>): void {
      if (isOfEntry(cause) || waiting.size >= mostWaiting) throw cause
      log.warn({ err: cause, call: id }, 'outcome of a call could not be stored yet')
      waiting.set(id, { id, since: performance.now(), write })
      goOn()
    },

    /** Tries pending writes a last time; those that fail are logged, call by call. */
    async end(): Promise<void> {
      await round
      if (waiting.size > 0) await tryAll()
      clearTimeout(timer)
      for (const id of waiting.keys()) log.error({ call: id }, 'outcome of a call was lost')
      waiting.clear()
      clearTimeout(timer)
    },
  }
}

import type { Logger } from 'pino'

/** Something to be written. It may have been, although that was never heard: written again, it changes nothing. */
interface Pending {
  readonly id: string
  readonly since: number
  write(): Promise<unknown>
}

/** How many wait at most, for how long, and how many of them are tried at once. */
const mostWaiting = 20_000
const longestMs = 60 * 60_000
const mostTogether = 200
/** From one round to the next, in ms: twice as long after each that was in vain, up to the second. */
const [soonestMs, latestMs] = [200, 5_000]

/** Whether it was what the entry itself holds that could not be written, and not the database that could not write (classes of SQLSTATE). */
export const isOfEntry = (cause: unknown): boolean => /^2[23]/.test((cause as { parent?: { code?: string } } | null)?.parent?.code ?? '')

/**
 * Writes what must not be lost because the database is away for a while, in rounds, until it is there. A process that is killed
 * meanwhile forgets it.
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
    /** Keeps for later what could not be written now. @throws the cause, when it is the entry's own or too much waits already */
    keep(id: string, cause: unknown, write: () => Promise<unknown>): void {
      if (isOfEntry(cause) || waiting.size >= mostWaiting) throw cause
      log.warn({ err: cause, call: id }, 'outcome of a call could not be stored yet')
      waiting.set(id, { id, since: performance.now(), write })
      goOn()
    },

    /** Tries what waits a last time; what is still not written is told in the log, call by call. */
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

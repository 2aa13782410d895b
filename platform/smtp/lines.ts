import type { MailServer } from './address.ts'
import { type Dial, type Line, MailFault, openLine, type Times } from './line.ts'

/** A bounded pool of connections to the mail server. */
export interface Lines {
  /**
   * Lends a connection for the duration of the work. @throws MailFault when none is available; then the work has not
   * begun
   */
  lend<Result>(work: (line: Line) => Promise<Result>): Promise<Result>
  /** Closes all connections. */
  close(): void
}

/**
 * Maximum open connections of one process; and the time in ms for which no more are opened after the server rejected
 * one.
 */
const most = 4
const contentMs = 60_000
/** Time in ms after which an idle connection is closed. */
const idleMs = 5_000
/** Time limit in ms for a mail to wait for a connection. */
const waitMs = 8_000

/**
 * Creates the pool of one process; no connection is opened before the first mail. @param dial opens connections, with
 * restrictions
 */
export function createLines(server: MailServer, times: Times, dial?: Dial): Lines {
  const idle: { readonly line: Line; readonly timer: NodeJS.Timeout }[] = []
  const busy = new Set<Line>()
  const waiting: (() => void)[] = []
  let opening = 0
  let limit = most
  let limited: NodeJS.Timeout | undefined
  let over = false

  const free = () => waiting.shift()?.()

  /** Returns an idle connection, or null as permission to open one; waits until there is either. */
  async function place(): Promise<Line | null> {
    for (;;) {
      if (over) throw new MailFault('the process is about to end', { isBusy: true })
      for (let kept = idle.pop(); kept; kept = idle.pop()) {
        clearTimeout(kept.timer)
        if (kept.line.open) return kept.line
      }
      if (busy.size + opening < limit) return null
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const go = () => resolve(true)
      waiting.push(go)
      const tired = setTimeout(() => resolve(false), waitMs)
      const came = await promise
      clearTimeout(tired)
      if (came) continue
      waiting.splice(waiting.indexOf(go), 1)
      throw new MailFault('all connections to the mail server are busy', { isBusy: true })
    }
  }

  async function take(): Promise<Line> {
    for (;;) {
      const kept = await place()
      if (kept) {
        busy.add(kept)
        return kept
      }
      opening += 1
      try {
        const line = await openLine(server, times, dial)
        busy.add(line)
        return line
      } catch (error) {
        // If other connections are open or opening, the server does not want more of them.
        const others = busy.size + idle.length + opening - 1
        if (others === 0) throw error
        limit = others
        clearTimeout(limited)
        limited = setTimeout(() => {
          limit = most
        }, contentMs).unref()
      } finally {
        opening -= 1
        free()
      }
    }
  }

  function release(line: Line): void {
    busy.delete(line)
    if (over) line.quit()
    else if (line.open) {
      const kept = {
        line,
        timer: setTimeout(() => {
          idle.splice(idle.indexOf(kept), 1)
          line.quit()
        }, idleMs).unref(),
      }
      idle.push(kept)
    }
    free()
  }

  return {
    async lend(work) {
      const line = await take()
      try {
        return await work(line)
      } finally {
        release(line)
      }
    },
    close() {
      over = true
      clearTimeout(limited)
      for (const { line, timer } of idle.splice(0)) {
        clearTimeout(timer)
        line.quit()
      }
      for (const go of waiting.splice(0)) go()
    },
  }
}

import type { MailServer } from './address.ts'
import { type Dial, type Line, MailFault, openLine, type Times } from './line.ts'

/** Connections to the mail server, kept for a while and bounded. */
export interface Lines {
  /** Lends a connection for as long as the work takes. @throws MailFault when none can be had, before the work has begun */
  lend<Result>(work: (line: Line) => Promise<Result>): Promise<Result>
  /** Ends all of them. */
  close(): void
}

/** How many connections one process has open at most; and for how long it is content with those that it got, when the server wants no more, in ms. */
const most = 4
const contentMs = 60_000
/** For how long a connection that nobody uses is kept, in ms. */
const idleMs = 5_000
/** How long a mail may wait for a connection, in ms. */
const waitMs = 8_000

/** Makes the connections of one process; none is open before the first mail. @param dial what connects, when it may not lead everywhere */
export function createLines(server: MailServer, times: Times, dial?: Dial): Lines {
  const idle: { readonly line: Line; readonly timer: NodeJS.Timeout }[] = []
  const busy = new Set<Line>()
  const waiting: (() => void)[] = []
  let opening = 0
  let limit = most
  let limited: NodeJS.Timeout | undefined
  let over = false

  const free = () => waiting.shift()?.()

  /** A connection that is there already, or leave to open one; waits until there is either. */
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

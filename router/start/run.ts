import { readConfig } from '../../config.ts'
import { StartError } from '../../db/start-error.ts'

/** Something that runs until it is stopped. */
export interface Running {
  /** Drains and ends everything that was started; safe to call twice. */
  stop(): Promise<void>
}

/** What a start hears from, and tells, the process in which it happens. */
export interface Startup {
  /** Aborts when the process is to end before the start is done. */
  readonly signal: AbortSignal
  /**
   * Takes what frees, without waiting, a thing that would outlive this process: called when the process falls over, also while
   * it is still starting.
   */
  onAbandon(free: () => void): void
}

/** How long a stop may take, in ms, before the process ends anyway. */
const stopWithinMs = 15_000

/** Starts the platform, and sees to it that it ends as a whole: by a signal, by the end of npm, or by an error. */
export async function run(): Promise<void> {
  // Every Ctrl-C reaches us more than once: from the terminal, and again from npm.
  let ending = false
  let running: Running | undefined
  const startup = new AbortController()
  let abandon = () => {}
  const end = (status: number) => {
    if (ending) return
    ending = true
    startup.abort()
    void (async () => {
      const overdue = setTimeout(() => {
        abandon()
        process.exit(1)
      }, stopWithinMs)
      await starting.catch(() => {})
      await running?.stop().catch(error => complain(error))
      clearTimeout(overdue)
      process.exit(status)
    })()
  }
  process.on('SIGINT', () => end(0))
  process.on('SIGTERM', () => end(0))
  process.on('uncaughtException', error => {
    complain(error)
    abandon()
    process.exit(1)
  })

  const starting = (async () => {
    const config = readConfig()
    if (config.startedByNpm) {
      const npm = process.ppid
      setInterval(() => process.ppid !== npm && end(0), 300).unref()
    }
    const { startEmbedded } = await import('./embedded.ts')
    running = await startEmbedded(config, { signal: startup.signal, onAbandon: free => (abandon = free) })
  })()
  try {
    await starting
  } catch (error) {
    if (startup.signal.aborted) return
    complain(error)
    process.exit(1)
  }
}

/** One readable line for a mistake of the surroundings; a stack only for a mistake of ours. */
function complain(error: unknown): void {
  if (error instanceof StartError) for (const line of error.message.split('\n')) console.error(line)
  // The stack alone: errors of the database driver carry the values of their statements.
  else console.error(error instanceof Error ? error.stack : error)
}

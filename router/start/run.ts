import { readConfig } from '../../config.ts'
import { StartError } from '../../db/start-error.ts'
import { readCommand } from './command.ts'

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

/**
 * Starts what the command line asks for, and sees to it that it ends as a whole: by a signal, by the end of npm, or by an error.
 * @param words of the command line, after the program's name
 */
export async function run(words: readonly string[]): Promise<void> {
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
    const command = readCommand(words)
    const config = readConfig(undefined, {
      given: command.given,
      defaults: command.mode === 'subgraph' ? (await import('./apart.ts')).subgraphDefaults(command.slug) : {},
      // The routers have none of the platform's secrets; a subgraph's start asks for those that it takes.
      secrets: command.mode === 'embedded',
    })
    if (config.startedByNpm) {
      const npm = process.ppid
      setInterval(() => process.ppid !== npm && end(0), 300).unref()
    }
    const mine: Startup = { signal: startup.signal, onAbandon: free => (abandon = free) }
    switch (command.mode) {
      case 'embedded':
        running = await (await import('./embedded.ts')).startEmbedded(config, mine)
        break
      case 'bare':
        running = await (await import('./bare.ts')).startBare(config, command.supergraph)
        break
      case 'router':
        running = await (await import('./router.ts')).startRouter(config)
        break
      case 'subgraph':
        running = await (await import('./subgraph.ts')).startSubgraph(config, command.slug)
        break
    }
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

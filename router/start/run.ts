import { printsJson, readConfig, supergraphOf } from '../../config.ts'
import { readCommand } from './process/command.ts'
import { explain } from './process/explain.ts'
import { standardLines } from './process/lines.ts'
import { createPresses } from './process/presses.ts'
import { createReporter } from './process/reporter.ts'
import { type Running, type Startup, stopWithinMs } from './startup.ts'

/** Milliseconds for which the process waits at its end until its output is read. */
const lastWordsMs = 500
/** Time limit in ms for a start that is stopped before it is done. */
const unwindWithinMs = 5_000

/**
 * Starts the mode that the command line names, and ends it as a whole: on a signal, when npm ends, or after an error.
 * @param words of the command line, after the program's name
 */
export async function run(words: readonly string[]): Promise<void> {
  let reporter = createReporter(printsJson())
  // The reader of standard output may be gone: `npm start | head`, a closed terminal.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  let ending = false
  let running: Running | undefined
  const startup = new AbortController()
  let wayOut: string | null = null
  let abandon = () => {}
  const fall = (status: number, why: string): never => {
    reporter.warn(why)
    abandon()
    process.exit(status)
  }
  const end = (why: string) => {
    if (ending) return
    ending = true
    const timeoutMs = running ? (running.stopWithinMs?.() ?? stopWithinMs) : unwindWithinMs
    reporter.say(`stopping (${why}): what runs may end, within ${timeoutMs / 1000} s; Ctrl-C ends it at once`)
    startup.abort()
    void (async () => {
      const overdue = setTimeout(() => fall(1, `not stopped within ${timeoutMs / 1000} s: cut off; the next start recovers`), timeoutMs)
      await starting.catch(() => {})
      await running?.stop().catch(error => reporter.complain(error))
      clearTimeout(overdue)
      reporter.say('stopped')
      await standardLines().written(lastWordsMs)
      process.exit(0)
    })()
  }
  const pressedAgain = createPresses()
  process.on('SIGINT', () => {
    if (pressedAgain()) fall(130, 'Ctrl-C again: cut off; the next start recovers')
    end('Ctrl-C')
  })
  process.on('SIGTERM', () => end('SIGTERM'))
  process.on('SIGHUP', () => (running?.reload && !ending ? running.reload() : end('SIGHUP: its terminal was closed')))
  process.on('uncaughtException', error => {
    // The terminal is gone, which is no reason for an unclean exit.
    if (ending && isOutputLost(error)) return
    reporter.complain(error)
    abandon()
    process.exit(1)
  })
  if (printsJson()) {
    process.removeAllListeners('warning')
    process.on('warning', ({ name, message }) => reporter.warn(message, { warning: name }))
  }

  const starting = (async () => {
    const command = readCommand(words, supergraphOf())
    if (command.mode === 'help') {
      const { usageOf } = await import('./process/usage.ts')
      process.stdout.write(usageOf(command.of))
      return
    }
    const config = readConfig(undefined, {
      given: command.given,
      defaults: command.mode === 'embedded' ? {} : (await import('./mode/apart.ts')).defaultsOf(command),
      // Routers have none of the platform's secrets; a subgraph reads those that it needs.
      secrets: command.mode === 'embedded' || command.mode === 'apart',
      whole: command.mode === 'embedded' || command.mode === 'apart',
    })
    const { startedBy, worker } = config
    if (worker !== null) {
      const { endInOrder, reportToKeeper } = await import('./process/colleagues.ts')
      endInOrder()
      reporter = reportToKeeper(reporter, worker, printsJson())
    }
    if (startedBy) {
      // The starting process passes its own id, because it may have ended before this process could look up its parent.
      const parent = Number(/ (\d+)$/.exec(startedBy)?.[1] ?? process.ppid)
      setInterval(() => process.ppid !== parent && end(`${startedBy} ended`), 300).unref()
    }
    if (command.mode === 'embedded' && config.environment === 'development' && !config.databaseUrl) wayOut = `empty ${config.dataDir} with npm run reset`
    const mine: Startup = { signal: startup.signal, reporter, onAbandon: free => (abandon = free) }
    if (worker === null && (command.mode === 'router' || command.mode === 'bare') && command.workers !== null) {
      running = await (await import('./apart/workers.ts')).startWorkers(config, command.workers, mine)
      return
    }
    switch (command.mode) {
      case 'embedded':
        running = await (await import('./mode/embedded.ts')).startEmbedded(config, mine)
        break
      case 'apart':
        running = await (await import('./apart/start.ts')).startApart(config, command.replicas, mine)
        break
      case 'database':
        running = await (await import('./mode/database.ts')).startDatabase(config, mine)
        break
      case 'demo':
        running = await (await import('./mode/demo.ts')).startDemo(config, mine)
        break
      case 'bare':
        running = await (await import('./mode/bare.ts')).startBare(config, command.supergraph, mine)
        break
      case 'router':
        running = await (await import('./mode/router.ts')).startRouter(config, mine)
        break
      case 'subgraph':
        running = await (await import('./mode/subgraph.ts')).startSubgraph(config, command.slug, mine)
        break
    }
  })()
  try {
    await starting
  } catch (error) {
    if (startup.signal.aborted) return
    reporter.complain(explain(error, wayOut))
    process.exit(1)
  }
}

const isOutputLost = (error: Error): boolean => ['EIO', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')

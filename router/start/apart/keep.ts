import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { StartError } from '../../../start-error.ts'
import type { Word } from '../process/colleagues.ts'

/** A process that is to run until it is stopped, however it is started. */
export interface Role {
  /** Name of the process: `publishing 2`. */
  readonly name: string
  /**
   * A pattern of the line that reports readiness, where the other lines are forwarded; or `told` if the process sends a
   * message. Without a value a process is ready as soon as it runs.
   */
  readonly ready?: RegExp | 'told'
  /** Called with each message of the process (`process.send`). */
  heard?(message: unknown, from: ChildProcess): void
}

/** A process that is started by a command. */
export interface Part extends Role {
  readonly command: string
  readonly parameters: readonly string[]
  readonly environment: NodeJS.ProcessEnv
}

/** Callbacks about the processes. */
export interface Onlooker {
  /** A line that a process printed. */
  line(part: Role, text: string): void
  /** Called when the process ended by itself, and is started again. */
  ended(part: Role, by: string): void
  /** Called when the process is ready again after a number of ms. */
  back(part: Role, afterMs: number): void
}

/** A process that is kept running. */
export interface Kept {
  readonly part: Role
  /** Process id; null while the process does not run. */
  readonly pid: number | null
  /** Resolves when the process is ready for the first time. @throws StartError when it ends before */
  readonly ready: Promise<void>
  /** Ends the process with TERM, after a number of ms with KILL, and does not start it again. Idempotent. */
  stop(withinMs: number): Promise<void>
}

/** Milliseconds before an ended process is started again: the pause doubles as long as it keeps ending. */
const pauses = { first: 100, most: 5_000 }
/** Running time in ms after which the pauses start over. */
const slowPollMs = 10_000

/** Keeps a process of a command running until it is stopped. */
export const keep = (part: Part, onlooker: Onlooker): Kept =>
  keepRunning(part, onlooker, () =>
    spawn(part.command, part.parameters, { env: part.environment, stdio: ['pipe', 'pipe', 'pipe', ...(part.heard ? (['ipc'] as const) : [])] }),
  )

/**
 * Keeps a process running until it is stopped: whenever it ends by itself, it is started again.
 * @param start starts the process
 */
export function keepRunning(part: Role, onlooker: Onlooker, start: () => ChildProcess): Kept {
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => {})
  const stopping = new AbortController()
  let child: ChildProcess | null = null
  let known = false
  let stopped: Promise<void> | undefined

  /** Error message of the process about its start. */
  let mistake: string | null = null

  const begin = (since: number) => {
    mistake = null
    const started = start()
    started.on('error', error => started.emit('exit', null, error.message))
    started.stdin?.on('error', () => {})
    started.on('message', (message: Word) => {
      if (message.about === 'mistake') mistake = message.sentence
      part.heard?.(message, started)
      if (message.about === 'ready' && part.ready === 'told') isReady()
    })
    const isReady = () => {
      if (known) onlooker.back(part, performance.now() - since)
      known = true
      ready.resolve()
    }
    if (!part.ready && started.pid !== undefined) setImmediate(isReady)
    // Not there when it is inherited, nor of a process that could not be started.
    for (const stream of [started.stdout, started.stderr])
      if (stream)
        createInterface({ input: stream }).on('line', line => {
          if (part.ready instanceof RegExp && part.ready.test(line)) isReady()
          else onlooker.line(part, line)
        })
    return started
  }
  /** Waits until the process ends: its exit code, or its signal. A failure to start it counts as an end too. */
  const begun = async (since: number): Promise<[number | null, string | null]> => {
    try {
      child = begin(since)
    } catch (error) {
      return [null, (error as Error).message]
    }
    return (await once(child, 'exit')) as [number | null, string | null]
  }
  const run = async () => {
    let pause = pauses.first
    let since = performance.now()
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const [code, signal] = await begun(since)
      // A program of the shell's that goes on behind it hears by this that it is over.
      child?.stdin?.destroy()
      child = null
      if (stopping.signal.aborted) return
      const by = mistake ?? signal ?? `exit code ${code}`
      if (!known) return ready.reject(new StartError(mistake ?? `${part.name} did not start (${by})`))
      onlooker.ended(part, by)
      if (performance.now() - began > slowPollMs) pause = pauses.first
      since = performance.now()
      await wait(pause * (0.5 + Math.random()), undefined, { signal: stopping.signal }).catch(() => {})
      pause = Math.min(pauses.most, pause * 2)
    }
  }
  const running = run()

  return {
    part,
    get pid() {
      return child?.pid ?? null
    },
    ready: ready.promise,
    stop(withinMs) {
      stopped ??= (async () => {
        stopping.abort()
        child?.kill('SIGTERM')
        const overdue = setTimeout(() => child?.kill('SIGKILL'), withinMs)
        await running
        clearTimeout(overdue)
      })()
      return stopped
    },
  }
}

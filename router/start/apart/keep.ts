import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { StartError } from '../../../start-error.ts'

/** A process that is to run until it is stopped. */
export interface Part {
  /** `publishing 2`. */
  readonly name: string
  readonly command: string
  readonly parameters: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  /** A line that says that it is ready; the other lines are handed on. @default it is ready once it runs */
  readonly ready?: RegExp
  /** Called when it has told something by itself (`process.send`). */
  heard?(message: unknown): void
}

/** Who hears of processes. */
export interface Onlooker {
  /** A line that a process printed. */
  line(part: Part, text: string): void
  /** It ended by itself, and is started again. */
  ended(part: Part, by: string): void
  /** It is ready again after so many ms. */
  back(part: Part, afterMs: number): void
}

/** A process that is kept running. */
export interface Kept {
  readonly part: Part
  /** Null while it does not run. */
  readonly pid: number | null
  /** Resolves when it is ready for the first time. @throws StartError when it ends before that */
  readonly ready: Promise<void>
  /** Ends it with TERM, after so many ms by KILL, and does not start it again; safe to call twice. */
  stop(withinMs: number): Promise<void>
}

/** Milliseconds before a process that ended is started again: it doubles as long as it keeps ending. */
const pauses = { first: 100, most: 5_000 }
/** One that has run for so long, in ms, begins with the first pause again. */
const calmMs = 10_000

/** Keeps a process running until it is stopped: whenever it ends by itself, by whatever, it is started again. */
export function keep(part: Part, onlooker: Onlooker): Kept {
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => {})
  const stopping = new AbortController()
  let child: ChildProcess | null = null
  let known = false
  let stopped: Promise<void> | undefined

  const begin = (since: number) => {
    const started = spawn(part.command, part.parameters, { env: part.environment, stdio: ['pipe', 'pipe', 'pipe', ...(part.heard ? (['ipc'] as const) : [])] })
    started.on('error', error => started.emit('exit', null, error.message))
    started.stdin?.on('error', () => {})
    started.on('message', message => part.heard?.(message))
    const isReady = () => {
      if (known) onlooker.back(part, performance.now() - since)
      known = true
      ready.resolve()
    }
    if (!part.ready) setImmediate(isReady)
    for (const stream of [started.stdout!, started.stderr!])
      createInterface({ input: stream }).on('line', line => {
        if (part.ready?.test(line)) isReady()
        else onlooker.line(part, line)
      })
    return started
  }
  const run = async () => {
    let pause = pauses.first
    let since = performance.now()
    while (!stopping.signal.aborted) {
      const began = performance.now()
      child = begin(since)
      const [code, signal] = await once(child, 'exit')
      // A program of the shell's that goes on behind it hears by this that it is over.
      child.stdin?.destroy()
      child = null
      if (stopping.signal.aborted) return
      const by = signal ?? `exit code ${code}`
      if (!known) return ready.reject(new StartError(`${part.name} did not start (${by})`))
      onlooker.ended(part, by)
      if (performance.now() - began > calmMs) pause = pauses.first
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

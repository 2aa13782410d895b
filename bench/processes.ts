import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { availableParallelism } from 'node:os'

/** Cores of a measurement: the measured process has one, load and subgraphs share the other. */
export const measuredCore = 1
export const loadCore = 0

const pinned = process.platform === 'linux' && availableParallelism() > 1

/** A process of the measurement. It ends with this one, or when disposed. */
export interface Running extends AsyncDisposable {
  readonly child: ChildProcess
  /** Returns the processor time so far in ms, of all threads, in user and system mode. */
  cpu(): number
  /** Returns the megabytes of memory in use. */
  memory(): number
}

export interface Start {
  readonly core: number
  readonly nodeOptions?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Whether the program sends no messages: foreign programs do not, and get no channel. */
  readonly silent?: boolean
}

/** Node options for every measured process, e.g. of a profiler. */
export const extraNodeOptions: string[] = []

/** Starts a Node program on one core, in production mode, with a message channel. */
export function start(program: string, args: readonly string[], { core, nodeOptions = [], env = {}, cwd, silent = false }: Start): Running {
  const settings = Object.entries({ NODE_ENV: 'production', ...env }).map(([name, value]) => `${name}=${value}`)
  const extra = core === measuredCore ? extraNodeOptions : []
  const child = spawn('env', [...settings, ...(pinned ? ['taskset', '-c', String(core)] : []), process.execPath, ...nodeOptions, ...extra, program, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', ...(silent ? [] : (['ipc'] as const))],
    ...(cwd && { cwd }),
  })
  const over = once(child, 'exit')
  return {
    child,
    cpu: () => cpuOf(child.pid!),
    memory: () => memoryOf(child.pid!),
    async [Symbol.asyncDispose]() {
      // Left alone, our own programs end by themselves, and a profiler writes what it saw.
      if (child.connected) child.disconnect()
      else child.kill()
      const late = setTimeout(() => child.kill('SIGKILL'), 3000)
      await over
      clearTimeout(late)
    },
  }
}

/**
 * Keeps both cores awake until it is disposed, by work of the lowest priority (sched(7), SCHED_IDLE). Waking a virtual
 * machine's core takes some 50 µs, which would count for each message between processes.
 */
export async function keepAwake(): Promise<AsyncDisposable> {
  const spinning = pinned
    ? [measuredCore, loadCore].map(core =>
        spawn('taskset', ['-c', String(core), 'chrt', '--idle', '0', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' }),
      )
    : []
  await Promise.all(spinning.map(child => once(child, 'spawn')))
  return {
    async [Symbol.asyncDispose]() {
      const ended = spinning.map(child => once(child, 'exit'))
      for (const child of spinning) child.kill('SIGKILL')
      await Promise.all(ended)
    },
  }
}

/** Pins this process, which generates the load, to a core. */
export async function pinMyself(core: number): Promise<void> {
  if (pinned) await once(spawn('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' }), 'exit')
}

/** Returns the next message of a process. Rejects when it ends before. */
export async function said<Message>({ child }: Running): Promise<Message> {
  const over = new AbortController()
  const { signal } = over
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.join(' ')} ended with ${code}`)
      }),
    ])
    return message
  } finally {
    over.abort()
  }
}

/** Returns a process and its descendants: processor time in ms so far, and megabytes of memory in use. */
export function familyOf(pid: number): readonly { readonly pid: number; readonly cpu: number; readonly memory: number }[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children].map(each => ({ pid: each, cpu: cpuOf(each), memory: memoryOf(each) }))
}

/** A tick of /proc is a hundredth of a second wherever Linux runs (proc_pid_stat(5), USER_HZ). */
const millisecondsPerTick = 10

function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The program's name is in brackets and may contain spaces: the numbers begin after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

/** Returns microseconds of a clock that all processes of this machine share. */
export const microseconds = () => Number(process.hrtime.bigint() / 1000n)

/** A port of this machine that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { identify, isAlive, type ProcessIdentity, signal } from '../../db/process-table.ts'
import { removeRunFolder, runFolderVariable } from './run/folder.ts'

const project = join(import.meta.dirname, '..', '..')

/** A data folder of one test's own; what still runs on it at the end of the test is killed. */
export interface DataFolder extends AsyncDisposable {
  readonly path: string
  /** The process that holds the folder's lock; null when none that runs. */
  node(): ProcessIdentity | null
  /** The PostgreSQL server of the folder; null when none runs. */
  postgres(): ProcessIdentity | null
}

/** Makes an empty data folder within the folder of the test run. */
export function newDataFolder(): DataFolder {
  const run = process.env[runFolderVariable]
  if (!run) throw new Error('no folder of a test run: start the tests with `npm test` or `npx vitest run <file>`')
  const path = mkdtempSync(join(run, 'data-'))
  const running = (file: string, read: (text: string) => number) => {
    try {
      return identify(read(readFileSync(join(path, file), 'utf8')))
    } catch {
      return null
    }
  }
  const node = () => running('lock', text => JSON.parse(text).pid)
  const postgres = () => running(join('postgres', 'data', 'postmaster.pid'), text => Number(text.split('\n')[0]))
  return {
    path,
    node,
    postgres,
    async [Symbol.asyncDispose]() {
      await kill(node())
      // Not KILL: the server would leave its shared memory behind.
      await kill(postgres(), 'SIGQUIT')
      removeRunFolder(path)
    },
  }
}

/** Signals a process and waits until it is gone; nothing when there is none. */
export async function kill(process: ProcessIdentity | null, name: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (!process || !isAlive(process)) return
  signal(process.pid, name)
  await gone(process)
}

/** Waits until a process is gone: at most 20 s. */
export const gone = (process: ProcessIdentity): Promise<true> => until(`process ${process.pid} is gone`, () => !isAlive(process))

/**
 * Waits until something is there, and returns it.
 * @param what    finishes the sentence "waited in vain until …"
 * @param seconds how long at most @default 20
 */
export async function until<Found>(what: string, look: () => Found | Promise<Found>, seconds = 20): Promise<Exclude<Found, false | null | undefined>> {
  for (const deadline = performance.now() + seconds * 1000; ; await wait(20)) {
    const found = await look()
    if (found) return found as Exclude<Found, false | null | undefined>
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}, ${seconds} s`)
  }
}

/** One run of a program of ours. */
export interface Launched {
  readonly child: ChildProcess
  /** What it has printed so far. */
  said(): string
  /** What it has printed on standard error so far. */
  complained(): string
  /** Waits until it has printed a line that matches, 150 s at most. @throws with what it complained, when it ends before */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Waits for its end: exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

const running = new Set<ChildProcess>()
// A separate process group does not receive the terminal's Ctrl-C.
process.once('exit', () => {
  for (const { pid } of running) if (pid) signal(-pid, 'SIGKILL')
})

/** Where there is no sandbox the catalogue of models would be asked where it really is: nothing of a test leaves the machine. */
const inside = (parameters: readonly string[], { ENVIRONMENT = 'development' }: Readonly<Record<string, string>>) =>
  ENVIRONMENT !== 'development' || parameters.includes('subgraph') ? { MODELS_DEV_URL: 'http://127.0.0.1:9' } : {}

/**
 * Starts a program in the project's folder, as the leader of a process group, with an environment that says nothing of this
 * test run.
 */
export function launch(command: string, parameters: readonly string[], environment: Readonly<Record<string, string>> = {}, account: object = {}): Launched {
  const { PATH = '', HOME = '/tmp' } = process.env
  const child = spawn(command, parameters, {
    cwd: project,
    detached: true,
    env: { PATH, HOME, ...inside(parameters, environment), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...account,
  })
  let [said, complained] = ['', '']
  child.stdout.on('data', chunk => {
    said += chunk
  })
  child.stderr.on('data', chunk => {
    complained += chunk
  })
  // Not 'close': a process that outlives the program may hold its output open.
  const ended = once(child, 'exit').then(([code, killedBy]) => code ?? killedBy)
  running.add(child)
  ended.finally(() => running.delete(child))
  return {
    child,
    said: () => said,
    complained: () => complained,
    ended,
    async printed(pattern) {
      let over = false
      ended.finally(() => setTimeout(() => (over = true), 50))
      const found = await until(`${command} says ${pattern}`, () => pattern.exec(said) ?? (over && 'over'), 150)
      if (found === 'over') throw new Error(`${command} ended: ${complained.trim() || said.trim()}`)
      return found
    },
  }
}

/** The environment of a platform of a test's own: its folder, a free port, a sandbox on a port that is free too. */
export const platformEnvironment = async (folder: DataFolder) => ({ DATA_DIR: folder.path, PORT: String(await freePort()), SANDBOX_PORT: '0' })

/** Starts the platform without npm, under npm's name: so it ends with the process that started it, should that be killed. */
export const launchPlatform = (environment: Readonly<Record<string, string>>, account: object = {}) =>
  launch(process.execPath, ['router/main.ts'], { ...environment, npm_lifecycle_event: 'start' }, account)

/** The last line of a start. */
export const readyLine = /^(?:\{.*"msg":")?ready in .* s: (http:[^\s"]+)"?\}?$/m

const given = new Set<number>()

/** The test files that run beside each other draw from different ports: one could take the other's between finding it free and listening. */
const portsOfWorker = 1_000
const firstPort = 20_000 + portsOfWorker * (Number(process.env.VITEST_POOL_ID ?? 0) % 10)

/** A port that is free on both loopback addresses; outside the range from which the system takes ports of its own accord. */
export async function freePort(): Promise<number> {
  for (let turn = 0; turn < 100; turn++) {
    const port = firstPort + Math.floor(Math.random() * portsOfWorker)
    if (given.has(port) || !(await isFree(port, '127.0.0.1')) || !(await isFree(port, '::1'))) continue
    given.add(port)
    return port
  }
  throw new Error('no free port found')
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
}

/** Whether anything holds or lies about in a data folder that only a running platform has. */
export const leftovers = (folder: DataFolder): string[] =>
  ['lock', join('postgres', 'data', 'postmaster.pid')].filter(name => existsSync(join(folder.path, name)))

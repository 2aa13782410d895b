/**
 * Measures what a start costs on this machine, and prints it:
 *
 *     npx node scripts/measure.ts [RUNS]
 *
 * Each run takes a data folder and a compile cache of its own: a cold start by `npm start` (PostgreSQL is made, migrated and filled), a warm one,
 * a warm one without npm, then ten idle seconds, after which memory is read. The figures are the medians of RUNS (3 by default).
 * Memory is read from /proc, so on Linux only; that of PostgreSQL is proportional (PSS), because its processes share most of
 * theirs, and belongs to another user when root starts the platform: then it takes root to read it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** Targets for two cores: milliseconds and megabytes, `most` not included. */
const figures = [
  { name: 'cold start, npm start to ready', unit: 'ms', most: 10_000 },
  { name: 'warm start, npm start to ready', unit: 'ms', most: 4_000 },
  { name: 'warm start, process start to ready', unit: 'ms', most: 2_000 },
  { name: 'memory of the Node process, idle (RSS)', unit: 'MB', most: 300 },
  { name: 'memory of its planner, idle (RSS)', unit: 'MB', most: 100 },
  { name: 'memory of PostgreSQL, idle (PSS)', unit: 'MB', most: 100 },
  { name: 'stop of an idle platform by TERM', unit: 'ms', most: 1_000 },
] as const

const project = join(import.meta.dirname, '..')
const runs = Number(process.argv[2] ?? 3)
if (!Number.isInteger(runs) || runs < 1) {
  console.error('RUNS is a whole number from 1')
  process.exit(1)
}

interface Started {
  readonly child: ChildProcess
  readonly ms: number
}

async function start(command: string, parameters: readonly string[], place: string, port: number): Promise<Started> {
  const began = performance.now()
  const folders = { DATA_DIR: join(place, 'data'), NODE_COMPILE_CACHE: join(place, 'compile-cache') }
  const environment = { ...process.env, ...folders, PORT: String(port), SANDBOX_PORT: '0', PUBLIC_URL: '', DATABASE_URL: '' }
  const child = spawn(command, parameters, { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  const ready = new Promise<void>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the platform ended with ${code}: ${said}`)))
    child.stdout.on('data', chunk => {
      said += chunk
      if (/^ready in/m.test(said)) resolve()
    })
  })
  await ready
  return { child, ms: performance.now() - began }
}

/** Ends what was started, by TERM; returns how long that took, in ms. */
async function end({ child }: Started, place: string): Promise<number> {
  const began = performance.now()
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  // npm ends before Node does, so the lock is what goes last.
  while (existsSync(join(place, 'data', 'lock'))) await wait(5)
  return performance.now() - began
}

/** Megabytes that a process reports under a name in one of its /proc files; NaN where that cannot be read. */
function megabytes(pid: number | string, file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

/** The parent process; undefined when it has ended. */
function parentOf(pid: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
  } catch {
    return undefined
  }
}

const childrenOf = (pid: string): string[] => readdirSync('/proc').filter(name => /^\d+$/.test(name) && parentOf(name) === pid)

/** The database server and its children. */
function postgresProcesses(place: string): string[] {
  const [server = ''] = readFileSync(join(place, 'data', 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')
  return [server, ...childrenOf(server)]
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

async function measure(): Promise<number[]> {
  const place = mkdtempSync(join(tmpdir(), 'measure-'))
  const port = await freePort()
  let running: Started | undefined
  try {
    running = await start('npm', ['start'], place, port)
    const cold = running.ms
    await end(running, place)
    running = await start('npm', ['start'], place, port)
    const warm = running.ms
    await end(running, place)
    running = await start(process.execPath, ['router/main.ts'], place, port)
    const bare = running.ms
    await wait(10_000)
    const node = megabytes(running.child.pid!, 'status', 'VmRSS')
    const isLinux = process.platform === 'linux'
    const database = isLinux ? postgresProcesses(place) : []
    const others = isLinux ? childrenOf(String(running.child.pid)).filter(pid => !database.includes(pid)) : []
    const planner = isLinux ? others.reduce((sum, pid) => sum + megabytes(pid, 'status', 'VmRSS'), 0) : Number.NaN
    const postgres = isLinux ? database.reduce((sum, pid) => sum + megabytes(pid, 'smaps_rollup', 'Pss'), 0) : Number.NaN
    const stop = await end(running, place)
    return [cold, warm, bare, node, planner, postgres, stop]
  } finally {
    if (running?.child.exitCode === null) running.child.kill('SIGTERM')
    rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

const results: number[][] = []
for (let run = 0; run < runs; run++) results.push(await measure())
console.log(`${availableParallelism()} cores, Node ${process.version}, ${process.platform} ${process.arch}, median of ${runs}`)
for (const [at, { name, unit, most }] of figures.entries()) {
  const median = results.map(one => one[at]!).sort((a, b) => a - b)[Math.floor(runs / 2)]!
  console.log(`${name.padEnd(42)} ${Number.isNaN(median) ? 'not readable here' : `${median.toFixed(0).padStart(6)} ${unit}`}   target < ${most} ${unit}`)
}

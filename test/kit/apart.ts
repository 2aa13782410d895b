import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isAlive, type ProcessIdentity } from '../../db/process-table.ts'
import { type DataFolder, kill, type Launched, launch, platformEnvironment, readyLine, until } from './launch.ts'

/** The whole platform as processes of this machine. */
export interface Machine extends AsyncDisposable {
  /** Where clients reach it. */
  readonly url: string
  /** The process that keeps the others running. */
  readonly keeper: Launched
  /** Those that run at the moment, by name: `publishing 1`, `router 2`, `database`. */
  processes(): ReadonlyMap<string, ProcessIdentity>
  /** Kills one, or has it end by another signal, and waits until another process has its name. @returns that one */
  replace(name: string, signal?: NodeJS.Signals): Promise<ProcessIdentity>
  /** Every process that was seen and still runs. */
  remaining(): readonly ProcessIdentity[]
}

/**
 * Starts it and waits until it is ready.
 * @param replicas as the command line takes them
 */
export async function startMachine(folder: DataFolder, replicas = '', environment: Readonly<Record<string, string>> = {}): Promise<Machine> {
  const own = await platformEnvironment(folder)
  const words = ['router/main.ts', 'apart', ...(replicas ? ['--replicas', replicas] : [])]
  const keeper = launch(process.execPath, words, { ...own, ...environment, npm_lifecycle_event: 'start:apart' })
  const seen = new Map<number, ProcessIdentity>()
  const processes = () => {
    const { processes } = JSON.parse(readFileSync(join(folder.path, 'apart.json'), 'utf8')) as { processes: { name: string; pid: number | null }[] }
    const running = new Map<string, ProcessIdentity>()
    for (const { name, pid } of processes) {
      const found = pid === null ? null : identify(pid)
      if (!found) continue
      running.set(name, found)
      seen.set(found.pid, found)
    }
    const postgres = folder.postgres()
    if (postgres) seen.set(postgres.pid, postgres)
    return running
  }
  const remaining = () => [...seen.values()].filter(isAlive)
  const dispose = async () => {
    keeper.child.kill('SIGKILL')
    await keeper.ended
    await until('its processes are gone', () => remaining().length === 0, 15).catch(() => Promise.all(remaining().map(each => kill(each))))
  }
  try {
    await keeper.printed(readyLine)
    processes()
  } catch (error) {
    await dispose()
    throw error
  }
  return {
    url: `http://localhost:${own.PORT}`,
    keeper,
    processes,
    async replace(name, signal = 'SIGKILL') {
      const before = processes().get(name)
      if (!before) throw new Error(`no process is called ${name}: ${[...processes().keys()].join(', ')}`)
      const times = () => keeper.said().split(`${name} is ready again`).length
      const wanted = times() + 1
      process.kill(before.pid, signal)
      await until(`${name} is there again`, () => times() >= wanted, 60)
      return processes().get(name)!
    },
    remaining,
    [Symbol.asyncDispose]: dispose,
  }
}

import cluster from 'node:cluster'
import type { Config } from '../../../config.ts'
import { untilAborted } from '../process/abort.ts'
import type { Running, Startup } from '../startup.ts'
import { begin, stopAfter } from '../wire.ts'
import { gather } from './gather.ts'
import { forkWorker } from './handed.ts'
import { type Kept, keepRunning, type Role } from './keep.ts'

/** Additional ms that the whole may take to end, compared with one worker. */
const tidyMs = 1_000
/**
 * Interval in ms at which each worker is pinged, and number of missed pings after which it is ended: only the parent
 * can tell which one hangs.
 */
const asking = { everyMs: 2_000, times: 10 }

/**
 * Starts a router as several processes behind one port. This process answers nothing: it distributes connections to the
 * workers in turn, or leaves that to the system (`SHARE_PORT`), and restarts workers that end. They end with it.
 * @param count number of workers
 */
export const startWorkers = (config: Config, count: number, startup: Startup): Promise<Running> =>
  // Traces start where requests are answered.
  begin({ ...config, tracing: { ...config.tracing, endpoint: null } }, startup, async ({ stack, signal, reporter }) => {
    cluster.schedulingPolicy = cluster.SCHED_RR
    cluster.setupPrimary({ stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const gathering = gather(count)
    const withinMs = stopAfter(config)
    const all: Kept[] = []
    stack.defer(async () => void (await Promise.all(all.map(each => each.stop(withinMs)))))
    const onlooker = {
      line: () => {},
      ended: ({ name }: Role, by: string) => reporter.warn(`${name} ended (${by}): it is started again`, { process: name, by }),
      back({ name }: Role, afterMs: number) {
        const { pid } = all.find(({ part }) => part.name === name)!
        reporter.say(`${name} is ready again after ${(afterMs / 1000).toFixed(1)} s, as process ${pid}`, { process: name, pid })
      },
    }
    const run = async (numbers: readonly number[]) => {
      const begun = numbers.map(number =>
        keepRunning({ name: `worker ${number}`, ready: 'told', heard: gathering.heard }, onlooker, () =>
          forkWorker({ KEPT_AS: String(number), KEPT_BY: `start:router ${process.pid}` }),
        ),
      )
      all.push(...begun)
      await untilAborted(Promise.all(begun.map(({ ready }) => ready)), signal)
    }
    const numbers = Array.from({ length: count }, (_, at) => at + 1)
    // Starts one worker first: a start error concerns all of them and is reported once.
    await run(numbers.slice(0, 1))
    await run(numbers.slice(1))
    const looking = setInterval(() => {
      for (const child of gathering.silentFor(asking.times)) {
        const { name } = all.find(({ pid }) => pid === child.pid)!.part
        reporter.warn(`${name} has said nothing for ${(asking.everyMs * asking.times) / 1000} s: it is ended`, { process: name, pid: child.pid })
        child.kill('SIGKILL')
      }
    }, asking.everyMs)
    stack.defer(async () => clearInterval(looking))
    const { url, banner, facts } = gathering.started!
    return {
      url,
      banner: [...banner, ...all.map(({ part, pid }) => `${part.name} is process ${pid}`)],
      facts: { ...facts, workers: all.map(({ pid }) => pid) },
      stopWithinMs: () => withinMs + tidyMs,
      reload: () => {
        for (const child of gathering.ready()) child.kill('SIGHUP')
      },
    }
  })

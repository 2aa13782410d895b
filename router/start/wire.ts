import type { Registry } from 'prom-client'
import type { Config } from '../../config.ts'
import type { Tracing } from '../../platform/caller/trace.ts'
import { armCrash } from '../../platform/crash.ts'
import { createLog } from '../door/log.ts'
import { type Draining, requestDrainMs } from '../door/streaming/draining.ts'
import { openRegistry } from '../metrics/process.ts'
import type { RouterParts } from './doors.ts'
import type { Home, HomeParts } from './home.ts'
import { listenAt } from './listen.ts'
import { openColleagues } from './process/colleagues.ts'
import { standardLines } from './process/lines.ts'
import type { Reporter } from './process/reporter.ts'
import { type Process, type Running, type Startup, stopWithinMs } from './startup.ts'

/** The part of a process that answers clients, once it listens. */
export interface Door {
  listen(): Promise<unknown>
  close(): Promise<void>
}

/** A start whose subgraphs run in other processes: only the entrance for clients runs in this one. */
export interface RouterStart {
  readonly home?: undefined
  door(): RouterParts
}

/** A start with subgraphs in this process. */
export interface HomeStart {
  readonly home: HomeParts
  /**
   * Prepares the data that must exist before jobs run: demo data, and the link for the first person.
   * @returns a function that prints messages once the server listens; a failed start prints only its reason
   */
  prepare(home: Home): Promise<(() => void) | undefined>
  /** Creates the server for clients, or the parts from which the mode creates a router. */
  door(home: Home): RouterParts | Door
}

/**
 * The composition root of every mode. It starts, in this order: subgraphs on their database, demo data and set-up link,
 * jobs and sweeps, the server. Jobs run only once the server listens, so that a start that cannot listen publishes
 * nothing.
 */
export async function wire(process: Process, parts: RouterStart | HomeStart): Promise<void> {
  armCrash(process.config.crashAt)
  if (!parts.home) return open(process, parts.door())
  const listening = Promise.withResolvers<void>()
  // A router process loads neither database nor subgraph code.
  const { openHome } = await import('./home.ts')
  const home = await openHome(process, parts.home, listening.promise)
  const announce = await parts.prepare(home)
  process.signal.throwIfAborted()
  await Promise.all(home.subgraphs.map(subgraph => subgraph.start()))
  await open(process, parts.door(home))
  listening.resolve()
  announce?.()
}

async function open(process: Process, made: RouterParts | Door): Promise<void> {
  const door = 'listen' in made ? made : await (await import('./doors.ts')).openDoors(process, made)
  process.stack.defer(() => door.close())
  await listenAt(door, process.config)
}

/**
 * Runs a start, reports how long it took, and passes on the function that stops it. Stops everything again when a later
 * step fails, or when the process must end before the start is complete.
 */
export async function begin(
  config: Config,
  startup: Startup,
  start: (process: Process) => Promise<Omit<Parameters<Reporter['ready']>[0], 'seconds'> & Pick<Running, 'stopWithinMs' | 'reload'>>,
): Promise<Running> {
  const began = performance.now()
  await using starting = new AsyncDisposableStack()
  const tracing = await openTraces(config)
  if (tracing) starting.defer(() => tracing.close())
  // A process that only supervises other processes serves no figures, so it does not measure its event loop.
  let registry: Registry | undefined
  const metrics = () => {
    registry ??= openRegistry()
    return registry
  }
  const log = createLog(config.logLevel, standardLines())
  const { worker } = config
  const colleagues = worker === null ? null : openColleagues(metrics(), worker)
  if (colleagues) starting.defer(colleagues.leave)
  const {
    stopWithinMs: withinMs,
    reload,
    ...started
  } = await start({
    ...startup,
    config,
    log: worker === null ? log : log.child({ worker }),
    get metrics() {
      return metrics()
    },
    tracing,
    colleagues,
    stack: starting,
  })
  startup.reporter.ready({ seconds: ((performance.now() - began) / 1000).toFixed(1), ...started })
  const stack = starting.move()
  return { stopWithinMs: withinMs, reload, stop: () => stack.disposeAsync() }
}

/** Loads OpenTelemetry only where a collector is configured. */
async function openTraces({ tracing: { endpoint, share, service } }: Config): Promise<Tracing | undefined> {
  if (endpoint === null) return undefined
  return (await import('../tracing/otlp.ts')).openTracing({ endpoint, share, service })
}

/** Maximum time in ms that a process needs to stop: for draining, for ending streams, and for the stop itself. */
export const stopAfter = ({ remote, streams }: Pick<Config, 'remote' | 'streams'>): number => remote.drainMs + streams.drainMs + stopWithinMs

/**
 * Returns the time in ms that a stop may take from now: for the stop itself, and for connections other than requests.
 */
export const stopWithin =
  (draining: Draining, drainMs = 0) =>
  (): number =>
    drainMs + draining.withinMs - requestDrainMs + stopWithinMs

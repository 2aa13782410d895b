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
import type { Tell } from './process/tell.ts'
import { type Process, type Running, type Startup, stopWithinMs } from './startup.ts'

/** What answers from the outside, once it listens. */
export interface Door {
  listen(): Promise<unknown>
  close(): Promise<void>
}

/** A way to start whose subgraphs run apart: what clients come in by is all that lives here. */
export interface RouterStart {
  readonly home?: undefined
  door(): RouterParts
}

/** A way to start with subgraphs of its own. */
export interface HomeStart {
  readonly home: HomeParts
  /**
   * Makes what has to be there before anything works by itself: demo data, a link for the first person.
   * @returns what to say once the door is open; a start that fails says only why
   */
  prepare(home: Home): Promise<(() => void) | undefined>
  /** What clients come in by; or what routers do, which is made by the mode. */
  door(home: Home): RouterParts | Door
}

/**
 * The one composition root: whatever the way to start, the same is put together in the same order. Subgraphs on their database, what has to
 * be there, their jobs and sweeps, the door; and only when that is open do jobs run, for a start that cannot open it must not have published
 * anything.
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
 * Runs a start, tells how long it took, and hands over what ends it. What was started is stopped again when a later step fails, or
 * when the process is to end before it is done.
 */
export async function begin(
  config: Config,
  startup: Startup,
  start: (process: Process) => Promise<Omit<Parameters<Tell['ready']>[0], 'seconds'> & Pick<Running, 'stopWithinMs' | 'reload'>>,
): Promise<Running> {
  const began = performance.now()
  await using starting = new AsyncDisposableStack()
  const tracing = await openTraces(config)
  if (tracing) starting.defer(() => tracing.close())
  // What only keeps other processes running is asked for no figures, and listens to no event loop for them.
  let registry: Registry | undefined
  const metrics = () => {
    registry ??= openRegistry()
    return registry
  }
  const log = createLog(config.logLevel, standardLines())
  const { worker } = config
  const colleagues = worker === null ? null : openColleagues(metrics())
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
  startup.tell.ready({ seconds: ((performance.now() - began) / 1000).toFixed(1), ...started })
  const stack = starting.move()
  return { stopWithinMs: withinMs, reload, stop: () => stack.disposeAsync() }
}

/** OpenTelemetry is loaded where a collector is named, and nowhere else. */
async function openTraces({ tracing: { endpoint, share, service } }: Config): Promise<Tracing | undefined> {
  if (endpoint === null) return undefined
  return (await import('../tracing/otlp.ts')).openTracing({ endpoint, share, service })
}

/** How long the stop of a process may take at most, in ms: what it drains for, the time of streams, and what every stop may take. */
export const stopAfter = ({ remote, streams }: Pick<Config, 'remote' | 'streams'>): number => remote.drainMs + streams.drainMs + stopWithinMs

/** Returns how long a stop that begins now may take, in ms: what every stop may take, and what its connections take beside requests. */
export const stopWithin =
  (draining: Draining, drainMs = 0) =>
  (): number =>
    drainMs + draining.withinMs - requestDrainMs + stopWithinMs

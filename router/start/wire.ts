import type { Config } from '../../config.ts'
import { armCrash } from '../../platform/crash.ts'
import { createLog } from '../door/log.ts'
import type { RouterParts } from './doors.ts'
import type { Home, HomeParts } from './home.ts'
import { listenAt } from './listen.ts'
import type { Tell } from './process/tell.ts'
import type { Process, Running, Startup } from './startup.ts'

/** What answers from the outside, once it listens. */
export interface Door {
  listen(): Promise<unknown>
  close(): Promise<void>
}

/** What one way to start is made of, where it differs from the others. */
export interface Parts {
  /** The subgraphs that live here. @default none: they run apart */
  readonly home?: HomeParts
  /** What has to be there before anything works by itself: demo data, a link for the first person. */
  prepare?(home: Home): Promise<void>
  /** What clients come in by: a router, by default before the subgraphs that live here. */
  readonly router?: RouterParts | { readonly sandbox: string | null }
  /** What routers come in by, in the place of clients. */
  server?(home: Home): Door
}

/**
 * The one composition root: whatever the way to start, the same is put together in the same order. Subgraphs on their database, what has to
 * be there, their jobs and sweeps, the door; and only when that is open do jobs run, for a start that cannot open it must not have published
 * anything.
 */
export async function wire(process: Process, parts: Parts): Promise<Home | null> {
  const { config, stack, signal } = process
  armCrash(config.crashAt)
  const open = Promise.withResolvers<void>()
  // A router's process loads neither the database's code nor that of the subgraphs.
  const home = parts.home ? await (await import('./home.ts')).openHome(process, parts.home, open.promise) : null
  if (home) await parts.prepare?.(home)
  signal.throwIfAborted()
  await Promise.all((home?.subgraphs ?? []).map(subgraph => subgraph.start()))
  const door = await openDoor(process, parts, home)
  stack.defer(() => door.close())
  await listenAt(door, config)
  open.resolve()
  return home
}

async function openDoor(process: Process, { router, server }: Parts, home: Home | null): Promise<Door> {
  if (server) return server(home!)
  const { openDoors } = await import('./doors.ts')
  if (router && 'engine' in router) return openDoors(process, router)
  const { defined, subgraphs, engine, readiness } = home!
  return openDoors(process, { ...router, engine: engine!, authority: defined.identity!.authority, subgraphs, readiness })
}

/**
 * Runs a start, tells how long it took, and hands over what ends it. What was started is stopped again when a later step fails, or
 * when the process is to end before it is done.
 */
export async function begin(
  config: Config,
  startup: Startup,
  start: (process: Process) => Promise<Omit<Parameters<Tell['ready']>[0], 'seconds'>>,
): Promise<Running> {
  const began = performance.now()
  await using starting = new AsyncDisposableStack()
  const told = await start({ ...startup, config, log: createLog(config.logLevel), stack: starting })
  startup.tell.ready({ seconds: ((performance.now() - began) / 1000).toFixed(1), ...told })
  const stack = starting.move()
  return { stop: () => stack.disposeAsync() }
}

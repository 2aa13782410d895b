import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../../start-error.ts'
import { isAlive, signal } from '../process-table.ts'
import { type Server, stopServer } from './server.ts'

/** A server that is started again when it ends by itself. */
export interface KeptServer {
  /** Ends the server and waits for its end, or stops the attempts to start it again; safe to call twice. */
  stop(): Promise<void>
  /** Signals the server to end without waiting. */
  killNow(): void
}

export interface KeeperOptions {
  readonly server: Server
  /** Starts the server again on the same files and port. */
  restart(port: number, signal: AbortSignal): Promise<Server>
  /** Log file in which the server reports why it ended. */
  readonly serverLog: string
  readonly log: Logger
  /** Called when the server cannot be started again. */
  lost(error: StartError): void
  /** Delays in ms before each attempt; after the last one the server counts as lost. */
  readonly pausesMs?: readonly number[]
}

/** At once, then with growing delays, because the cause may persist. */
const pauses: readonly number[] = [0, 1_000, 2_000, 4_000, 8_000]
/** Running time in ms after which the delays begin anew. */
const slowPollMs = 60_000
/** Interval in ms at which a server that another process started is checked: only its parent is notified of its end. */
const lookMs = 1_000

/** Keeps a server running until it is stopped. Existing connections are lost; pools reconnect by themselves. */
export function keepServer({ server, restart, serverLog, log, lost, pausesMs = pauses }: KeeperOptions): KeptServer {
  const stopping = new AbortController()
  let present = server
  let attempts = 0
  let reviving: Promise<void> | undefined
  let stopped: Promise<void> | undefined

  const watch = () => {
    const { child, process } = present
    const since = performance.now()
    const ended = (by: number | string | null) => {
      if (stopping.signal.aborted) return
      if (performance.now() - since > slowPollMs) attempts = 0
      log.error({ endedBy: by }, `PostgreSQL ended unexpectedly and is restarting: see ${serverLog}`)
      reviving = revive()
    }
    if (child) {
      if (child.exitCode !== null || child.signalCode !== null) ended(child.exitCode ?? child.signalCode)
      else child.once('exit', (code, killedBy) => ended(code ?? killedBy))
      return
    }
    const timer = setInterval(() => {
      if (isAlive(process)) return
      clearInterval(timer)
      ended(null)
    }, lookMs)
    timer.unref()
    stopping.signal.addEventListener('abort', () => clearInterval(timer))
  }

  async function revive(): Promise<void> {
    const began = performance.now()
    let reason: unknown = 'it ends again and again'
    while (attempts < pausesMs.length) {
      try {
        await wait(pausesMs[attempts++], undefined, { signal: stopping.signal })
        present = await restart(present.port, stopping.signal)
        log.warn({ port: present.port, server: present.process.pid, ms: Math.round(performance.now() - began) }, 'PostgreSQL is ready again')
        return watch()
      } catch (error) {
        if (stopping.signal.aborted) return
        reason = error
      }
    }
    lost(new StartError(`the database ended by itself and cannot be started again: ${lineOf(reason)} (see ${serverLog})`, reason))
  }

  watch()
  return {
    stop() {
      stopped ??= (async () => {
        stopping.abort()
        await reviving
        await stopServer(present)
      })()
      return stopped
    },
    killNow() {
      if (isAlive(present.process)) signal(present.process.pid, 'SIGINT')
    },
  }
}

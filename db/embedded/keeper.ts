import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { lineOf, StartError } from '../../start-error.ts'
import { isAlive, signal } from '../process-table.ts'
import { type Server, stopServer } from './server.ts'

/** A server that is started again when it ends by itself. */
export interface KeptServer {
  /** Ends the server and waits until it is gone, or gives up starting it again; safe to call twice. */
  stop(): Promise<void>
  /** Tells it to end without waiting. */
  killNow(): void
}

export interface KeeperOptions {
  readonly server: Server
  /** Starts it again on the same files and port. */
  restart(port: number, signal: AbortSignal): Promise<Server>
  /** Where it says why it ended. */
  readonly serverLog: string
  readonly log: Logger
  /** Called when it cannot be started again. */
  lost(error: StartError): void
  /** How long to wait before each attempt, in ms; after the last one it is lost. */
  readonly pausesMs?: readonly number[]
}

/** At once, then with patience: what killed it may do so again. */
const pauses: readonly number[] = [0, 1_000, 2_000, 4_000, 8_000]
/** A server that has run for so long, in ms, is begun with the first pause when it ends. */
const calmMs = 60_000
/** How often a server that another process started is looked at, in ms: only its parent hears of its end. */
const lookMs = 1_000

/** Keeps a server running until it is stopped. Connections that it had are lost; pools connect anew by themselves. */
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
      if (performance.now() - since > calmMs) attempts = 0
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

import type { WebSocket } from 'ws'
import { sealHeader } from '../../subgraphs/seal.ts'

/** Obtains later seals for the viewer who opened a socket. */
export interface Renewal {
  /** Requests a fresh seal from the router. Rejects when the router sends none in time, or has disconnected. */
  ask(): Promise<unknown>
  /** Receives the payload of a pong. */
  heard(payload: unknown): void
  /** The socket is closed. */
  end(): void
}

/** Milliseconds within which the router must send a seal. */
const timeoutMs = 5000

/**
 * Requests seals for a stream by the protocol's own messages: a ping whose payload requests the seal, and the pong that
 * carries it. The router answers for as long as it keeps the stream, so no seal is issued for a viewer who may no
 * longer receive events.
 */
export function createRenewal(socket: Pick<WebSocket, 'send' | 'readyState' | 'OPEN'>): Renewal {
  let asked: PromiseWithResolvers<unknown> | null = null
  const fail = (why: string) => asked?.reject(new Error(`The router sealed nobody for an open stream: ${why}`))
  return {
    ask() {
      // Concurrent callers share the same renewal.
      if (asked) return asked.promise
      asked = Promise.withResolvers()
      const { promise } = asked
      const late = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs)
      const over = () => {
        clearTimeout(late)
        asked = null
      }
      promise.then(over, over)
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ type: 'ping', payload: { [sealHeader]: null } }))
      else fail('it is gone')
      return promise
    },
    heard(payload) {
      if (payload instanceof Object && sealHeader in payload) asked?.resolve(payload[sealHeader])
    },
    end: () => fail('it is gone'),
  }
}

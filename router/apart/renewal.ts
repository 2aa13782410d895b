import type { WebSocket } from 'ws'
import { sealHeader } from '../../subgraphs/seal.ts'

/** How a subgraph gets later seals for whoever opened a socket. */
export interface Renewal {
  /** Asks the router for a seal of this moment. Rejects when it gives none in time, or is gone. */
  ask(): Promise<unknown>
  /** Takes what a pong carried. */
  heard(payload: unknown): void
  /** The socket is closed. */
  end(): void
}

/** Milliseconds that the router has for a seal. */
const patienceMs = 5000

/**
 * Seals of a stream are asked for by the protocol's own means: a ping whose payload names the seal, answered by the pong's. The
 * router answers for as long as it keeps the stream, so who may hear no more is not asked for any more.
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
      const late = setTimeout(() => fail(`no answer within ${patienceMs} ms`), patienceMs)
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

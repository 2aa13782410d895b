import { type Client, createClient } from 'graphql-ws'
import { leaveForSignIn, type Session, SignedOut } from '../session/session.ts'

/** Makes the client of the WebSocket, which connects again for ever. */
export function dial(session: Session, { came, went }: { came(): void; went(why: unknown): void }): Client {
  return createClient({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    connectionParams: async () => {
      const token = await session.token()
      return token === null ? {} : { Authorization: `Bearer ${token}` }
    },
    retryAttempts: Number.POSITIVE_INFINITY,
    // Twice as long each time, at most half a minute, and not all tabs at once.
    retryWait: retries => new Promise(resolve => setTimeout(resolve, Math.min(500 * 2 ** retries, 30_000) * (0.75 + Math.random() / 2))),
    shouldRetry: why => {
      if (why instanceof SignedOut) leaveForSignIn()
      return !(why instanceof SignedOut)
    },
    on: { connected: came, closed: went },
  })
}

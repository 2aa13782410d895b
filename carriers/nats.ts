import { readFile } from 'node:fs/promises'
import type { ConnectionOptions } from '@nats-io/transport-node'
import type { Logger } from 'pino'
import { type Carrier, createCarrier } from './carrier.ts'
import { readNatsUrl } from './nats-address.ts'

/** Time limits in ms of connecting and sending, and interval of pings on a quiet connection. */
const connectMs = 5_000
const sendMs = 5_000
const pingMs = 5_000

/**
 * Creates the event transport over NATS: core NATS, at most once. The client is loaded at the first connection.
 * @param url in the format of `readNatsUrl`
 */
export function createNatsCarrier({ url, log }: { readonly url: string; readonly log: Logger }): Carrier {
  const { subject, ...server } = readNatsUrl(url)
  return createCarrier({
    name: 'NATS',
    log,
    async open(heard) {
      const { connect, credsAuthenticator, usernamePasswordAuthenticator, tokenAuthenticator } = await import('@nats-io/transport-node')
      const { user, pass, token, credsFile } = server
      const options: ConnectionOptions = {
        servers: [...server.servers],
        name: 'supergraph',
        // Reconnecting is handled here, as for every event transport.
        reconnect: false,
        timeout: connectMs,
        pingInterval: pingMs,
        maxPingOut: 2,
        ...(server.tls && { tls: server.tls }),
        ...(credsFile && { authenticator: credsAuthenticator(await readFile(credsFile)) }),
        ...(token && { authenticator: tokenAuthenticator(token) }),
        ...(user && { authenticator: usernamePasswordAuthenticator(user, pass) }),
      }
      const connection = await connect(options)
      connection.subscribe(subject, { callback: (error, message) => void (error ?? heard(message.string())) })
      // The subscription is active only once the server has confirmed it.
      await connection.flush()
      return {
        ended: connection.closed(),
        close: () => connection.close(),
        async send(texts) {
          for (const text of texts) connection.publish(subject, text)
          let late: NodeJS.Timeout | undefined
          const lost = connection.closed().then(() => Promise.reject(new Error('the connection to NATS was lost')))
          const slow = new Promise<never>((_, reject) => (late = setTimeout(() => reject(new Error('NATS did not take it in time')), sendMs)))
          await Promise.race([connection.flush(), lost, slow]).finally(() => clearTimeout(late))
        },
      }
    },
  })
}

import type { ConnectionOptions } from '@nats-io/transport-node'

/** Address and credentials of a NATS server. */
export interface NatsServer extends Pick<ConnectionOptions, 'user' | 'pass' | 'token' | 'tls'> {
  readonly servers: readonly string[]
  /** Subject of events: platforms that share a server have different ones. */
  readonly subject: string
  readonly credsFile?: string | undefined
}

/**
 * Reads `nats://user:password@one:4222,two:4222/name?creds=FILE&ca=FILE&cert=FILE&key=FILE`; each server may have its
 * `nats://`, as in NATS's own lists. A user without a password is a token; `tls:` instead of `nats:`, or a certificate
 * file, requires TLS; the name separates platforms that share a server.
 * @throws for an invalid address
 */
export function readNatsUrl(url: string): NatsServer {
  const address = /^(?:nats|tls):\/\/[^/?#\s,]+(?:,(?:(?:nats|tls):\/\/)?[^/?#\s,]+)*/.exec(url)?.[0]
  const rest = url.slice(address?.length)
  if (!address || !/^(?:(?:\/(?!\/)|\?)[^#\s]*)?$/.test(rest)) throw new Error('it is no address of NATS')
  const [first, ...others] = address.split(',').map(each => new URL(`nats://${each.replace(/^(?:nats|tls):\/\//, '')}`))
  const one = first!
  const { pathname, searchParams } = new URL(rest, 'nats://server')
  const [user, pass] = [decodeURIComponent(one.username), decodeURIComponent(one.password)]
  const file = (name: string) => searchParams.get(name) ?? undefined
  const files = { caFile: file('ca'), certFile: file('cert'), keyFile: file('key') }
  const name = pathname.replace(/^\/|\/$/g, '') || 'supergraph'
  if (!/^[\w-]+$/.test(name)) throw new Error('its path is no name')
  return {
    servers: [one, ...others].map(({ host }) => host),
    subject: `${name}.events`,
    credsFile: file('creds'),
    tls: /(?:^|,)tls:/.test(address) || Object.values(files).some(Boolean) ? Object.fromEntries(Object.entries(files).filter(([, value]) => value)) : null,
    ...(user && (pass ? { user, pass } : { token: user })),
  }
}

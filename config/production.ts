import { slugs } from '../subgraphs/scopes.ts'
import { documented, eachSubgraph } from './families.ts'
import { registry } from './identity.ts'
import { paymentsAddresses } from './payments.ts'
import { address, addresses, hostNames, issuer, nats, origin, origins, postgres, smtp } from './readers.ts'
import type { Variables } from './setting.ts'

/** How settings are read that say where something is. */
const places = new Set<unknown>([address, addresses, hostNames, issuer, nats, origin, origins, postgres, smtp])

/** Every setting that says where something is. */
const addressSettings: readonly string[] = [
  ...documented.flatMap(({ family }) => Object.values(family).flatMap(({ name, reads }) => (places.has(reads) && !name.includes('<') ? [name] : []))),
  ...slugs.map(slug => eachSubgraph.url.name.replace('<NAME>', slug.toUpperCase())),
].filter(name => name !== 'PRODUCTION_HOSTS' && name !== registry.production.name)

/** Where something listens whose address names no port. */
const usualPorts: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  postgres: '5432',
  postgresql: '5432',
  nats: '4222',
  tls: '4222',
  smtp: '587',
  smtps: '465',
}

/**
 * What a platform shares with production, a sentence each.
 * @param productionHosts in lower case; one with a port means that port alone
 */
export function sharedWithProduction(productionHosts: readonly string[], given: Variables): readonly string[] {
  const forbidden = new Set(productionHosts)
  return addressSettings.flatMap(name => {
    const shared = hostsIn(given[name] ?? '').find(([host, port]) => forbidden.has(host) || forbidden.has(`${host}:${port}`))
    return shared ? [`${name}: ${shared[0]} is a host of production (PRODUCTION_HOSTS), and staging shares nothing with it: name staging's own`] : []
  })
}

/** The hosts that a list of addresses or names speaks of, with their ports. */
function hostsIn(text: string): readonly (readonly [host: string, port: string])[] {
  return text.split(',').flatMap(each => {
    const [, scheme = '', authority = ''] = /^(?:([a-z\d+.-]+):\/\/)?([^/?#]*)/i.exec(each.trim()) ?? []
    const [, host = '', port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(authority.slice(authority.lastIndexOf('@') + 1)) ?? []
    // A PostgreSQL may be named behind its address, too.
    const named = /[?&]host=([^&]+)/.exec(each)?.[1]
    return [host, ...(named ? [decodeURIComponent(named)] : [])].map(name => [name.toLowerCase(), port ?? usualPorts[scheme.toLowerCase()] ?? ''] as const)
  })
}

interface Told {
  readonly environment: string
  /** The environment itself. */
  readonly environmentVariables: Variables
}

/**
 * What payments must be told in staging, and is not, a sentence each: there nothing is derived, and no address of production stands in.
 */
export const missingBindings = ({ environment, environmentVariables: given }: Told): readonly string[] =>
  environment !== 'staging'
    ? []
    : Object.values(paymentsAddresses).flatMap(({ name }) =>
        given[name] ? [] : [`${name}: missing, and in staging payments derives no address of its own: name staging's`],
      )

interface Mailing {
  readonly environment: string
  readonly demo: boolean
  readonly mail: { readonly server: unknown }
}

/** A line where mails are expected to leave, and nothing takes them. */
export const missingMailServer = ({ environment, demo, mail }: Mailing): readonly string[] =>
  environment !== 'development' && !demo && !mail.server
    ? [
        `SMTP_URL: missing, and in ${environment} people are invited and set new passwords by mail: name a mail server, such as smtp://user:password@mail.example.com:587`,
      ]
    : []

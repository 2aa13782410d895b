import type { Config, NamedKey } from '../../../config.ts'
import { StartError } from '../../../start-error.ts'
import type { Command } from '../process/command.ts'
import { type ListedSlug, listedSlugs, routingUrls } from '../registry.ts'

/** Instructions for creating the keys of distributed mode. */
const makeKeys = 'print a pair with npm run --silent seal:keys'

/**
 * Returns the addresses of each subgraph's replicas: `<SLUG>_URL`, else those of `supergraph.yaml`. @throws StartError
 * for a value that is not an address
 */
export function subgraphUrls(config: Config): ReadonlyMap<ListedSlug, readonly string[]> {
  return new Map([...routingUrls].map(([slug, url]) => [slug, config.subgraphUrls(slug) ?? [url]]))
}

/** Returns scheme, host and port of each address. */
export const originsOf = (urls: readonly string[]): readonly string[] => urls.map(url => new URL(url).origin)

/** @throws StartError for a slug that `supergraph.yaml` does not list */
export function requireSlug(word: string): ListedSlug {
  const slug = listedSlugs.find(each => each === word)
  if (slug) return slug
  throw new StartError(`"${word}" is no subgraph of this platform: npm run start:subgraph -- ${listedSlugs.join(' | ')}`)
}

/** Default port of a subgraph, and default public origin. */
const subgraphDefaults = (word: string) => ({
  PORT: new URL(routingUrls.get(requireSlug(word))!).port,
  PUBLIC_URL: 'http://localhost:4000',
  OTEL_SERVICE_NAME: serviceNameOf(platformService, word),
})

/** Default name of the whole platform in traces. */
const platformService = 'supergraph'

/** Returns the `service.name` of a part of the platform that runs as a separate process. */
export const serviceNameOf = (platform: string, part: string): string => `${platform}-${part}`

/** Returns the default environment of a process of one part. @param command that starts the process */
export function defaultsOf(command: Command): Readonly<Record<string, string>> {
  if (command.mode === 'subgraph') return subgraphDefaults(command.slug)
  if (command.mode === 'embedded' || command.mode === 'apart' || command.mode === 'help') return {}
  return { OTEL_SERVICE_NAME: serviceNameOf(platformService, command.mode === 'bare' ? 'router' : command.mode) }
}

/** Checks the settings that a subgraph's process needs. @throws StartError with one line for each missing one */
export function requireSubgraphConfig({ databaseUrl, seal, authSecret, encryptionKeys }: Config, others: readonly string[] = []) {
  const missing = [...others]
  if (!databaseUrl)
    missing.push('DATABASE_URL: missing, and a subgraph that runs apart has no database of its own: name the PostgreSQL that all processes share')
  if (!seal.publicKeys) missing.push(`SEAL_PUBLIC_KEYS: missing, and without them nobody can be believed: ${makeKeys}`)
  if (!authSecret) missing.push('AUTH_SECRET: missing, and processes that run apart cannot generate one: set the same 32 random characters or more everywhere')
  if (!encryptionKeys)
    missing.push('ENCRYPTION_KEYS: missing, and processes that run apart cannot generate them: set the same k1:<32 bytes in base64> everywhere')
  if (!databaseUrl || !seal.publicKeys || !authSecret || !encryptionKeys || others.length > 0) throw new StartError(missing.join('\n'))
  return { databaseUrl, publicKeys: seal.publicKeys, authSecret, encryptionKeys }
}

/** @throws StartError when the router has no key to seal with */
export function requireSealKey({ seal }: Config): NamedKey {
  if (seal.privateKey) return seal.privateKey
  throw new StartError(`SEAL_PRIVATE_KEY: missing, and without it no subgraph believes the router: ${makeKeys}, or name a supergraph with --supergraph`)
}

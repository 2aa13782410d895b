import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Config, NamedKey } from '../../config.ts'
import { StartError } from '../../db/start-error.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { Registration } from '../../subgraphs/subgraph.ts'

/** How to get the keys that processes apart need. */
const makeKeys = 'print a pair with npm run --silent seal:keys'

/** What stands in `supergraph.yaml`: where each subgraph of the platform listens when it runs apart, in its order. */
export function readRoutingUrls(): ReadonlyMap<string, string> {
  const { subgraphs } = parse(readFileSync(new URL('../../supergraph.yaml', import.meta.url), 'utf8')) as {
    subgraphs: Record<string, { routing_url: string }>
  }
  return new Map(Object.entries(subgraphs).map(([slug, { routing_url }]) => [slug, routing_url]))
}

/** The same with `<SLUG>_URL` before it. @throws StartError for a value that is no address */
export function subgraphUrls(config: Config): ReadonlyMap<string, string> {
  return new Map([...readRoutingUrls()].map(([slug, url]) => [slug, config.subgraphUrl(slug) ?? url]))
}

/** How every service presents itself, without the code of any. */
export async function readRegistrations(): Promise<readonly Registration[]> {
  const modules = await Promise.all([
    import('../../subgraphs/identity/registration.ts'),
    import('../../subgraphs/publishing/registration.ts'),
    import('../../subgraphs/launcher/registration.ts'),
  ])
  return modules.map(({ registration }) => registration)
}

/** @throws StartError for a slug that `supergraph.yaml` does not name */
export function requireSlug(word: string): Slug {
  const known = [...readRoutingUrls().keys()]
  if (known.includes(word)) return word as Slug
  throw new StartError(`"${word}" is no subgraph of this platform: npm run start:subgraph -- ${known.join(' | ')}`)
}

/** Where a subgraph listens, and clients reach the platform, unless the environment says otherwise. */
export const subgraphDefaults = (word: string) => ({
  PORT: new URL(readRoutingUrls().get(requireSlug(word))!).port,
  PUBLIC_URL: 'http://localhost:4000',
})

/** What a subgraph's process must be told. @throws StartError with one line for each that is missing */
export function requireSubgraphConfig({ databaseUrl, seal, authSecret, encryptionKeys }: Config) {
  const missing: string[] = []
  if (!databaseUrl)
    missing.push('DATABASE_URL: missing, and a subgraph that runs apart has no database of its own: name the PostgreSQL that all processes share')
  if (!seal.publicKeys) missing.push(`SEAL_PUBLIC_KEYS: missing, and without them nobody can be believed: ${makeKeys}`)
  if (!authSecret) missing.push('AUTH_SECRET: missing, and processes that run apart cannot generate one: set the same 32 random characters or more everywhere')
  if (!encryptionKeys)
    missing.push('ENCRYPTION_KEYS: missing, and processes that run apart cannot generate them: set the same k1:<32 bytes in base64> everywhere')
  if (!databaseUrl || !seal.publicKeys || !authSecret || !encryptionKeys) throw new StartError(missing.join('\n'))
  return { databaseUrl, publicKeys: seal.publicKeys, authSecret, encryptionKeys }
}

/** @throws StartError when the router has no key to seal with */
export function requireSealKey({ seal }: Config): NamedKey {
  if (seal.privateKey) return seal.privateKey
  throw new StartError(`SEAL_PRIVATE_KEY: missing, and without it no subgraph believes the router: ${makeKeys}, or name a supergraph with --supergraph FILE`)
}

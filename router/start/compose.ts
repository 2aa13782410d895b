import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import type { Ask } from '../../platform/ask.ts'
import type { Foundation, Subgraph } from '../../subgraphs/subgraph.ts'
import { createAccessFilter } from '../access/filter.ts'
import { createAsk } from '../ask.ts'
import type { Engine } from '../engine/engine.ts'
import { readSupergraph } from '../engine/supergraph.ts'
import { createEmbeddedTransport } from '../engine/transport/embedded.ts'
import { openEngine } from './engine.ts'
import { type Defined, type ListedSlug, listedSlugs, loadDefinitions } from './registry.ts'
import { settingsFrom, type Told } from './settings.ts'

// Loaded with this module: while PostgreSQL comes up, and once for all compositions of a process.
const definitions = await loadDefinitions()

/** What a composition stands on: the foundation without asking, which it makes itself, and what configuration decides. */
export interface Ground extends Omit<Foundation, 'ask'>, Told {
  /** Who runs operations. @default native */
  readonly engine?: Config['engine']
  /** Whether clients see the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  /** Milliseconds that the fetches of one operation have together. @default 30000 */
  readonly operationTimeoutMs?: number | undefined
  /** Bytes of one answer as JSON. @default 16 MiB */
  readonly answerBytes?: number | undefined
}

/** The platform without its doors: each subgraph by its slug, all of them, and the engine. */
export interface Composition extends Defined {
  readonly subgraphs: readonly Subgraph[]
  readonly engine: Engine
}

/**
 * Joins every subgraph and the engine over one database in one process, and writes the services into identity's
 * registry. Nothing works by itself yet: `start()` of the subgraphs sets jobs going.
 * @param stack takes what has to be stopped again
 */
export async function compose(
  { authSecret, x, hosts, quotas, retention, engine: kind = 'native', operationTimeoutMs, answerBytes, exposeErrors, ...ground }: Ground,
  stack: AsyncDisposableStack,
): Promise<Composition> {
  const { publicUrl, log } = ground
  let ask: Ask = () => Promise.reject(new Error('nothing can be asked before the engine is there'))
  const foundation: Foundation = { ...ground, ask: (document, variables, as) => ask(document, variables, as) }
  const settings = settingsFrom({ authSecret, x, hosts, quotas, retention })
  // Identity first: it is stopped last then, and what still runs in the others may ask it.
  const slugs: readonly ListedSlug[] = ['identity', ...listedSlugs.filter(slug => slug !== 'identity')]
  const defined = Object.fromEntries(
    slugs.map(slug => {
      const subgraph = definitions[slug](foundation, settings)
      stack.defer(() => subgraph.stop())
      return [slug, subgraph]
    }),
  ) as unknown as Defined
  const subgraphs: readonly Subgraph[] = Object.values(defined)
  const registrations = subgraphs.map(subgraph => subgraph.registration)

  const supergraph = readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  const transport = createEmbeddedTransport(new Map(subgraphs.map(subgraph => [subgraph.registration.slug, subgraph])))
  const engine = await openEngine(kind, {
    supergraphSdl: supergraph,
    transport,
    access: createAccessFilter(supergraph.access),
    log,
    operationTimeoutMs,
    answerBytes,
    exposeInternalErrors: exposeErrors,
  })
  ask = createAsk(engine, registrations)

  const addresses = Object.fromEntries(registrations.map(({ slug }) => [slug, { api: `${publicUrl}/${slug}` }]))
  await defined.identity.registerServices(registrations, addresses)
  return { ...defined, subgraphs, engine }
}

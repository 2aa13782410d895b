import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import type { Ask } from '../../platform/ask.ts'
import { defineIdentity, type Identity } from '../../subgraphs/identity/definition.ts'
import { defineLauncher } from '../../subgraphs/launcher/definition.ts'
import { definePublishing } from '../../subgraphs/publishing/definition.ts'
import type { XSettings } from '../../subgraphs/publishing/network/x/oauth.ts'
import type { Room } from '../../subgraphs/publishing/room.ts'
import type { Foundation, Subgraph } from '../../subgraphs/subgraph.ts'
import { createAccessFilter } from '../access/filter.ts'
import { createAsk } from '../ask.ts'
import { addressHeader } from '../door/forward.ts'
import type { ServiceOrigin } from '../door/hosts.ts'
import type { Engine } from '../engine/engine.ts'
import { readSupergraph } from '../engine/supergraph.ts'
import { createEmbeddedTransport } from '../engine/transport/embedded.ts'
import { openEngine } from './engine.ts'

/** What a composition stands on: the foundation without asking, which it makes itself, and what configuration decides. */
export interface Ground extends Omit<Foundation, 'ask'> {
  readonly databaseUrl: string
  /** Who runs operations. @default native */
  readonly engine?: Config['engine']
  /** Signs sessions; at least 32 characters. */
  readonly authSecret: string
  /** Null: no application of ours at X. */
  readonly x: XSettings | null
  /** Addresses of the services, whose pages may send the session cookie. */
  readonly origins: readonly ServiceOrigin[]
}

/** The platform without its doors. */
export interface Composition {
  readonly identity: Identity
  readonly publishing: Subgraph & { readonly room: Room }
  readonly subgraphs: readonly Subgraph[]
  readonly engine: Engine
}

/**
 * Joins every subgraph and the engine over one database in one process, and writes the services into identity's
 * registry. Nothing works by itself yet: `start()` of the subgraphs sets jobs going.
 * @param stack takes what has to be stopped again
 */
export async function compose(
  { databaseUrl, authSecret, x, origins, engine: kind = 'native', ...ground }: Ground,
  stack: AsyncDisposableStack,
): Promise<Composition> {
  const { publicUrl, log } = ground
  let ask: Ask = () => Promise.reject(new Error('nothing can be asked before the engine is there'))
  const foundation: Foundation = { ...ground, ask: (document, variables, as) => ask(document, variables, as) }
  const identity = defineIdentity(foundation, {
    databaseUrl,
    secret: authSecret,
    trustedOrigins: origins.map(({ origin }) => origin),
    clientAddressHeader: addressHeader,
  })
  stack.defer(() => identity.stop())
  const publishing = definePublishing(foundation, { x })
  stack.defer(() => publishing.stop())
  const launcher = defineLauncher(foundation)
  stack.defer(() => launcher.stop())
  const subgraphs: readonly Subgraph[] = [identity, publishing, launcher] as Subgraph[]
  const registrations = subgraphs.map(subgraph => subgraph.registration)

  const supergraph = readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  const transport = createEmbeddedTransport(new Map(subgraphs.map(subgraph => [subgraph.registration.slug, subgraph])))
  const engine = await openEngine(kind, { supergraphSdl: supergraph, transport, access: createAccessFilter(supergraph.access), log })
  ask = createAsk(engine, registrations)

  const addresses = Object.fromEntries(registrations.map(({ slug }) => [slug, { api: `${publicUrl}/${slug}` }]))
  await identity.registerServices(registrations, addresses)
  return { identity, publishing: publishing as Composition['publishing'], subgraphs, engine }
}

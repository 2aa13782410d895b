import type { CallService, CallStream, CallWhole } from '../../platform/ask.ts'
import type { Fact, FactCarrier, Receipt } from '../../platform/jobs/facts/fact.ts'
import type { Foundation, Registration, Subgraph } from '../../subgraphs/subgraph.ts'
import { createIsMember } from '../access/known/members.ts'
import type { Engine } from '../engine/engine.ts'
import { createEmbeddedTransport } from '../engine/transport/embedded.ts'
import type { Hosts } from '../hosts.ts'
import { createAsk } from '../within/ask.ts'
import { createCall } from '../within/call.ts'
import { type EngineSettings, openEngineOver, ownSupergraph } from './engine.ts'
import { type Defined, type ListedSlug, listedSlugs, loadDefinition } from './registry.ts'
import { type Configured, divided } from './settings.ts'

/** Dependencies of subgraphs without the calls between them, and the settings of each. */
export type Deps = Omit<Foundation, 'ask' | 'call' | 'carrier'> & Configured

/** The platform without its HTTP server: each subgraph by its slug, the list of all, and the engine. */
export interface Platform extends Defined {
  readonly subgraphs: readonly Subgraph[]
  readonly engine: Engine
}

/**
 * Creates the subgraphs. Their jobs do not run until `start()`.
 * @param stack collects cleanups: the first one added runs last
 */
export async function defineSubgraphs<S extends ListedSlug>(
  slugs: readonly S[],
  given: Foundation & Configured,
  stack: AsyncDisposableStack,
): Promise<Pick<Defined, S>> {
  const definitions = await Promise.all(slugs.map(slug => loadDefinition(slug)))
  const { foundation, settings } = divided(given)
  const defined = slugs.map((slug, at) => {
    const subgraph = definitions[at]!(foundation, settings)
    stack.defer(() => subgraph.stop())
    return [slug, subgraph]
  })
  return Object.fromEntries(defined) as Pick<Defined, S>
}

/** Registers the services with identity, each with its addresses. */
export async function register(identity: Defined['identity'], registrations: readonly Registration[], hosts: Pick<Hosts, 'addressesOf'>): Promise<void> {
  await identity.registerServices(registrations, Object.fromEntries(registrations.map(({ slug }) => [slug, hosts.addressesOf(slug)])))
}

/**
 * Combines all subgraphs and the engine over one database in one process, and registers the services with identity.
 * @param deps with `running`: settings of the engine
 */
export async function assemble({ running, ...deps }: Deps & { readonly running: EngineSettings }, stack: AsyncDisposableStack): Promise<Platform> {
  const asking = Promise.withResolvers<ReturnType<typeof createAsk>>()
  // Identity is stopped last: the others may still need it while they stop.
  const slugs: readonly ListedSlug[] = ['identity', ...listedSlugs.filter(slug => slug !== 'identity')]
  const carrier: FactCarrier = { receivers: slugs, carry: async (receiver, fact) => receiverIn(subgraphs, receiver)(fact) }
  const calling = Promise.withResolvers<CallService>()
  const call: CallService = Object.assign(async (...called: Parameters<CallWhole>) => (await calling.promise)(...called), {
    stream: async (...called: Parameters<CallStream>) => (await calling.promise).stream(...called),
  })
  // Closed once the subgraphs have stopped, because their jobs ask the engine until then.
  const planners = stack.use(new AsyncDisposableStack())
  const defined = await defineSubgraphs(slugs, { ...deps, carrier, ask: async (...asked) => (await asking.promise)(...asked), call }, stack)
  const subgraphs: readonly Subgraph[] = Object.values(defined)
  const registrations = subgraphs.map(subgraph => subgraph.registration)
  const transport = createEmbeddedTransport(new Map(subgraphs.map(subgraph => [subgraph.registration.slug, subgraph])))
  const engine = await openEngineOver(ownSupergraph(), transport, running, deps, planners)
  const isMember = createIsMember(defined.identity.authority)
  asking.resolve(createAsk(engine, registrations, isMember))
  calling.resolve(createCall(subgraphs, deps.publicUrl, isMember))
  await register(defined.identity, registrations, deps.hosts)
  return { ...defined, subgraphs, engine }
}

/** Returns the function that delivers facts to a subgraph of this process. @throws when the subgraph receives none */
function receiverIn(subgraphs: readonly Subgraph[], slug: string): (fact: Fact) => Promise<Receipt> {
  const receive = subgraphs.find(({ registration }) => registration.slug === slug)?.receive
  if (!receive) throw new Error(`${slug} receives no facts: its definition hands out no receive`)
  return receive
}

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
import { type Configured, settingsFrom } from './settings.ts'

/** What subgraphs stand on, but for asking and calling each other, and what configuration decides for each. */
export type Deps = Omit<Foundation, 'ask' | 'call' | 'carrier'> & Configured

/** The platform without its doors: each subgraph by its slug, all of them, and the engine. */
export interface Platform extends Defined {
  readonly subgraphs: readonly Subgraph[]
  readonly engine: Engine
}

/**
 * Makes subgraphs on one foundation. Nothing works by itself yet: `start()` sets jobs going.
 * @param stack takes what has to be stopped again: the first of them is stopped last
 */
export async function defineSubgraphs<S extends ListedSlug>(
  slugs: readonly S[],
  {
    authSecret,
    applications,
    whereabouts,
    hosts,
    quotas,
    retention,
    prices,
    aiTimes,
    email,
    paymentsAddresses,
    signUp,
    registry,
    foreignIssuer,
    mail,
    thirdParties,
    synchronisesModels,
    credentialServers,
    ...foundation
  }: Foundation & Configured,
  stack: AsyncDisposableStack,
): Promise<Pick<Defined, S>> {
  const definitions = await Promise.all(slugs.map(slug => loadDefinition(slug)))
  const settings = settingsFrom({
    authSecret,
    applications,
    whereabouts,
    hosts,
    quotas,
    retention,
    prices,
    aiTimes,
    email,
    paymentsAddresses,
    signUp,
    registry,
    foreignIssuer,
    mail,
    thirdParties,
    synchronisesModels,
    credentialServers,
  })
  const defined = slugs.map((slug, at) => {
    const subgraph = definitions[at]!(foundation, settings)
    stack.defer(() => subgraph.stop())
    return [slug, subgraph]
  })
  return Object.fromEntries(defined) as Pick<Defined, S>
}

/** Writes the services into identity's registry, each with where clients find it. */
export async function register(identity: Defined['identity'], registrations: readonly Registration[], hosts: Pick<Hosts, 'addressesOf'>): Promise<void> {
  await identity.registerServices(registrations, Object.fromEntries(registrations.map(({ slug }) => [slug, hosts.addressesOf(slug)])))
}

/**
 * Joins every subgraph and the engine over one database in one process, and writes the services into identity's registry.
 * @param deps with `running`: how operations run
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
  const defined = await defineSubgraphs(slugs, { ...deps, carrier, ask: async (...asked) => (await asking.promise)(...asked), call }, stack)
  const subgraphs: readonly Subgraph[] = Object.values(defined)
  const registrations = subgraphs.map(subgraph => subgraph.registration)
  const transport = createEmbeddedTransport(new Map(subgraphs.map(subgraph => [subgraph.registration.slug, subgraph])))
  const engine = await openEngineOver(ownSupergraph(), transport, running, deps, stack)
  const isMember = createIsMember(defined.identity.authority)
  asking.resolve(createAsk(engine, registrations, isMember))
  calling.resolve(createCall(subgraphs, deps.publicUrl, isMember))
  await register(defined.identity, registrations, deps.hosts)
  return { ...defined, subgraphs, engine }
}

/** How a fact is handed to a subgraph of this process. @throws when it receives none */
function receiverIn(subgraphs: readonly Subgraph[], slug: string): (fact: Fact) => Promise<Receipt> {
  const receive = subgraphs.find(({ registration }) => registration.slug === slug)?.receive
  if (!receive) throw new Error(`${slug} receives no facts: its definition hands out no receive`)
  return receive
}

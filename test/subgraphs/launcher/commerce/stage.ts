import { expect } from 'vitest'
import { applyEvents } from '../../../../subgraphs/launcher/engines/commerce/events.ts'
import { giveDueSeats } from '../../../../subgraphs/launcher/engines/commerce/seats.ts'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { anonymous, person, personally } from '../../../kit/viewers.ts'
import { seedApps, seedPlatformApps } from '../catalog/seed.ts'
import { post } from './seed.ts'

/** A platform with an organization of people who have accounts, and with apps to install. */
export interface BillingStage extends AsyncDisposable {
  readonly graph: Supergraph
  readonly organizationId: string
  readonly boss: Viewer
  readonly plain: Viewer
  /** A person of the other organization. */
  readonly stranger: Viewer
  personal(viewer: Viewer): Viewer
  ask(as: Viewer, query: string, variables?: Record<string, unknown>): ReturnType<Supergraph['execute']>
  change(as: Viewer, name: string, input: object, fields?: string): ReturnType<Supergraph['execute']>
  /** Posts an event, and applies what is due. */
  deliver(event: object): Promise<Response>
  /** Applies events that are due. */
  apply(): Promise<void>
  /** Gives seats where something has changed. */
  giveSeats(): Promise<void>
}

export async function billingStage(options: SupergraphOptions = {}): Promise<BillingStage> {
  const graph = await supergraph({ now: '2027-03-01T09:00:00.000Z', ...options })
  const people = ['boss', 'plain', 'stranger'].map(name => ({ email: `${name}@acme.test`, name }))
  const { users, organizations } = await graph.platform.identity.provision({
    password: 'correct horse battery',
    people,
    organizations: [
      { slug: 'admin', name: 'Platform', members: [] },
      {
        ...{ slug: 'acme', name: 'Acme' },
        members: [
          { email: 'boss@acme.test', roles: ['owner'] },
          { email: 'plain@acme.test', roles: ['member'] },
        ],
      },
      { slug: 'other', name: 'Other', members: [{ email: 'stranger@acme.test', roles: ['owner'] }] },
    ],
    keys: [],
  } as never)
  // Who joined first is the first to get a seat.
  await graph.rows(`update identity.memberships set created_at = created_at - interval '1 hour' where user_id = $1`, [users['boss@acme.test']])
  await seedPlatformApps(graph)
  await seedApps(graph, ...['route-finder', 'stock-count'].map(slug => ({ slug })))
  const viewer = (name: string, slug: string, role: string): Viewer => person(users[`${name}@acme.test`]!, organizations[slug]!, [role])
  const job = (actor: string) => () => graph.platform.launcher.job(actor)
  // The platform's own sweep may have taken some of them.
  const apply = async () => {
    await applyEvents(job('processor'), false)
    const waiting = () => graph.rows('select id from launcher.processor_events where next_attempt_at is not null')
    await expect.poll(waiting, { timeout: 10_000 }).toEqual([])
  }
  return {
    graph,
    organizationId: organizations.acme!,
    boss: viewer('boss', 'acme', 'owner'),
    plain: viewer('plain', 'acme', 'member'),
    stranger: viewer('stranger', 'other', 'owner'),
    personal: viewer => ({ ...personally(viewer), scopes: personalScopes }),
    ask: (as, query, variables = {}) => graph.execute(query, variables, { as }),
    change: (as, name, input, fields = 'id') =>
      graph.execute(`mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`, { input }, { as }),
    async deliver(event) {
      const answer = await post(graph, event, anonymous)
      await apply()
      return answer
    },
    apply,
    giveSeats: async () => void (await giveDueSeats(job('seats'))),
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

export const entitlements = '{ entitlements { plan platformApps { limit used } storeApps { limit used } seats { total used } validUntil } }'
export const subscriptions = `{ billingSubscriptions { id ownerType ownerId package interval status seats amount { amountMinor currency } processorSubscriptionId endedAt } }`

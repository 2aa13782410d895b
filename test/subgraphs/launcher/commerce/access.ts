import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  all,
  byScopeEachTheirOwn,
  change,
  constant,
  everybody,
  type Fresh,
  publicRoute,
  row,
  type Stage,
  services,
  unrelated,
} from '../../../access/row.ts'
import { steer } from '../catalog/seed.ts'
import { seedBundle, seedClaimableVerification, seedProcessor } from './seed.ts'

const read: readonly Scope[] = ['launcher:entitlements.read']
const write: readonly Scope[] = ['launcher:settings.write']

//                                                        anonymous key other   viewer  member  owner outsider
const managers /*                                    */ = 'refused denied refused denied  denied  yes   yes'
const owners /*                                      */ = 'refused denied refused denied  denied  yes   empty'
/** Roles below those of managers lack the scope to write. */
const managersWrite /*                               */ = 'refused denied refused refused refused yes   yes'
const managersOfIt /*                                */ = 'refused denied refused refused refused yes   hidden'
/** What waits for a mail address of somebody else. */
const nobodys /*                                     */ = 'refused denied refused refused refused hidden hidden'
const none /*                                        */ = 'refused denied refused denied  denied  empty empty'
// Whoever asks has solved no challenge.
const unsolved = everybody.replaceAll('yes', 'denied')
const byRoute = (cells: string) => cells.replaceAll('denied', 'refused')

/** A bundle of an organization that the processor knows. */
async function seedAtProcessor(graph: Stage['graph'], organizationId: string): Promise<void> {
  const made = await steer<{ id: string; customerId: string; itemId: string }>(graph, 'objects', { network: 'stripe', object: 'subscription', quantity: 50 })
  const id = await seedBundle(graph, organizationId)
  await graph.rows(
    'update launcher.billing_subscriptions set processor_subscription_id = $2, processor_customer_id = $3, processor_item_id = $4 where id = $1',
    [id, made.id, made.customerId, made.itemId],
  )
}

/** Ends every subscription, so that another can be bought. */
const unsubscribed: Fresh = async ({ graph }) => {
  await graph.rows(`update launcher.billing_subscriptions set status = 'CANCELED', ended_at = updated_at where owner_type = 'ORGANIZATION'`)
  await graph.rows('delete from launcher.rates')
  return ''
}

/** Has both organizations pay for a bundle. */
const subscribed: Fresh = async ({ graph }) => {
  await graph.rows(`update launcher.billing_subscriptions set status = 'ACTIVE', ended_at = null where owner_type = 'ORGANIZATION'`)
  return ''
}

/** Has every organization of the outsider pay too: they sign in to the one that they used last. */
const subscribedAnywhere: Fresh = async stage => {
  const { graph, outsider } = stage
  await subscribed(stage)
  const without = await graph.rows<{ id: string }>(
    `select m.organization_id as id from identity.memberships m
     where m.user_id = $1 and not exists (select from launcher.billing_subscriptions s where s.owner_id::text = m.organization_id::text)`,
    [outsider.userId],
  )
  for (const { id } of without) await seedAtProcessor(graph, id)
  return ''
}

/** A bundle that was bought with a mail address of nobody here. */
const freshClaim: Fresh = async stage => {
  await unsubscribed(stage)
  return seedClaimable(stage)
}

/** A verification that was bought with a mail address of nobody here. */
const freshVerification: Fresh = ({ graph }) => seedClaimableVerification(graph, 'buyer@example.com')

async function seedClaimable({ graph }: Pick<Stage, 'graph'>): Promise<string> {
  const [lead, id, at] = [newId(), newId(), graph.clock.now()]
  await graph.rows(
    `insert into launcher.leads (id, kind, email, created_at, updated_at, created_by) values ($1, 'CHECKOUT', 'buyer@example.com', $2, $2, 'test')`,
    [lead, at],
  )
  await graph.rows(
    `insert into launcher.billing_subscriptions (id, owner_type, owner_id, package, interval, status, seats, unit_minor, currency, processor_subscription_id,
       processor_customer_id, processor_item_id, learned_at, created_at, updated_at, created_by)
     values ($1, 'LEAD', $2, 'THREE', 'MONTH', 'ACTIVE', 1, 1500, 'USD', $3, 'cus_lead', 'si_lead', $4, $4, $4, 'test')`,
    [id, lead, `sub_${id}`, at],
  )
  return id
}

/** A seat that the owner holds. @returns the owner's id */
const freshSeat: Fresh = async stage => {
  const { graph, ids, owner } = stage
  await subscribed(stage)
  await graph.rows('delete from launcher.seats where organization_id = $1', [ids.organization])
  await graph.rows(
    `insert into launcher.seats (id, organization_id, user_id, kind, assigned_at, created_at, updated_at, created_by) values ($1, $2, $3, 'HUMAN', $4, $4, $4, 'test')`,
    [newId(), ids.organization, owner.userId, graph.clock.now()],
  )
  return owner.userId!
}

const preview = 'billingPreview(package: FIVE, seats: 3)'
const api = '/launcher/api/billing'
const back = { returnTo: '/settings' }
const reading = { scopes: read, less: unrelated } as const
const writing = { scopes: write, less: read } as const

export const access: AccessRows = {
  async made(stage) {
    await seedProcessor(stage.graph)
    await seedAtProcessor(stage.graph, stage.ids.organization!)
    await seedAtProcessor(stage.graph, stage.outsider.organizationId!)
    const at = stage.graph.clock.now()
    await stage.graph.rows(
      `insert into launcher.workspace_verifications (id, owner_type, owner_id, status, unit_minor, currency, processor_subscription_id, processor_customer_id,
         learned_at, ended_at, created_at, updated_at, created_by)
       values ($1, 'ORGANIZATION', $2, 'CANCELED', 100, 'USD', 'sub_verified', 'cus_verified', $3, $3, $3, $3, 'test')`,
      [newId(), stage.ids.organization, at],
    )
    await seedClaimable(stage)
    return {}
  },
  fields: [
    row('Query.billingPlans', all, unrelated, everybody, constant('{ billingPlans { package } }'), 'billingPlans'),
    row('BillingPlan.monthly', all, unrelated, everybody, constant('{ billingPlans { monthly { currency } } }'), 'billingPlans.monthly'),
    row('BillingPlan.yearly', all, unrelated, everybody, constant('{ billingPlans { yearly { currency } } }'), 'billingPlans.yearly'),
    row('Query.entitlements', read, unrelated, byScopeEachTheirOwn, constant('{ entitlements { plan } }'), 'entitlements'),
    row('Query.billingSubscriptions', read, unrelated, managers, constant('{ billingSubscriptions { id } }'), 'billingSubscriptions', subscribed),
    row('Query.workspaceVerifications', read, unrelated, owners, constant('{ workspaceVerifications { id } }'), 'workspaceVerifications'),
    row(
      'WorkspaceVerification.amount',
      read,
      unrelated,
      owners,
      constant('{ workspaceVerifications { amount { currency } } }'),
      'workspaceVerifications.amount',
    ),
    row('BillingSubscription.amount', read, unrelated, managers, constant('{ billingSubscriptions { amount { currency } } }'), 'billingSubscriptions.amount'),
    row('Query.claimableSubscriptions', read, unrelated, none, constant('{ claimableSubscriptions { id } }'), 'claimableSubscriptions'),
    row('Query.claimableVerifications', read, unrelated, none, constant('{ claimableVerifications { id } }'), 'claimableVerifications'),
    row('Query.billingPreview', read, unrelated, managers, constant(`{ ${preview} { dueNow { currency } } }`), 'billingPreview', subscribed),
    row('BillingPreview.lines', read, unrelated, managers, constant(`{ ${preview} { lines { quantity } } }`), 'billingPreview.lines', subscribed),
    row(
      'BillingPreviewLine.amount',
      read,
      unrelated,
      managers,
      constant(`{ ${preview} { lines { amount { currency } } } }`),
      'billingPreview.lines.amount',
      subscribed,
    ),
    row('Query.seats', read, unrelated, managers, constant('{ seats { nodes { id } } }'), 'seats', freshSeat),
    row('SeatConnection.nodes', read, unrelated, owners, constant('{ seats { nodes { id } } }'), 'seats.nodes', freshSeat),
    row('SeatConnection.edges', read, unrelated, owners, constant('{ seats { edges { cursor } } }'), 'seats.edges', freshSeat),
    row('SeatEdge.node', read, unrelated, owners, constant('{ seats { edges { node { id } } } }'), 'seats.edges.node', freshSeat),
    row('Seat.user', read, unrelated, owners, constant('{ seats { nodes { user { id } } } }'), 'seats.nodes.user', freshSeat),
    row(
      'Mutation.createBundleCheckout',
      write,
      read,
      managersWrite,
      change('createBundleCheckout', () => 'package: FIVE, returnTo: "/settings"', 'id'),
      'createBundleCheckout',
      unsubscribed,
    ),
    row(
      'Mutation.createFreeWorkspaceCheckout',
      write,
      read,
      managersWrite,
      change('createFreeWorkspaceCheckout', () => 'returnTo: "/settings"', 'id'),
      'createFreeWorkspaceCheckout',
    ),
    row(
      'Mutation.createPublicCheckout',
      all,
      unrelated,
      unsolved,
      change('createPublicCheckout', () => 'package: FIVE, email: "visitor@example.com"', 'url'),
      'createPublicCheckout',
      unsubscribed,
    ),
    row(
      'Mutation.createBillingPortal',
      write,
      read,
      managersWrite,
      change('createBillingPortal', () => 'returnTo: "/settings"', 'url'),
      'createBillingPortal',
      subscribed,
    ),
    row(
      'Mutation.claimBillingSubscription',
      write,
      read,
      nobodys,
      change('claimBillingSubscription', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'claimBillingSubscription',
      freshClaim,
    ),
    row(
      'Mutation.claimWorkspaceVerification',
      write,
      read,
      nobodys,
      change('claimWorkspaceVerification', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'claimWorkspaceVerification',
      freshVerification,
    ),
    row(
      'Mutation.changeSeats',
      write,
      read,
      managersWrite,
      change('changeSeats', () => 'quantity: 50', 'id'),
      'changeSeats',
      subscribed,
    ),
    row(
      'Mutation.assignSeat',
      write,
      read,
      managersOfIt,
      change('assignSeat', ({ fresh }) => `userId: "${fresh}"`, 'id'),
      'assignSeat',
      freshSeat,
    ),
    row(
      'Mutation.releaseSeat',
      write,
      read,
      managersOfIt,
      change('releaseSeat', ({ fresh }) => `userId: "${fresh}"`, 'id'),
      'releaseSeat',
      freshSeat,
    ),
    row(
      'Mutation.reconcileSeats',
      all,
      unrelated,
      services,
      change('reconcileSeats', ({ organization }) => `organizationId: "${organization}"`, 'organizations'),
      'reconcileSeats',
    ),
  ],
  routes: [
    { ...reading, at: 'GET /launcher/api/plans', cells: publicRoute, path: () => '/launcher/api/plans' },
    { ...reading, at: 'POST /launcher/api/checkout', cells: publicRoute, path: () => '/launcher/api/checkout', body: () => ({ package: 'five' }) },
    { ...reading, at: 'POST /launcher/api/webhooks/subscriptions', cells: publicRoute, path: () => '/launcher/api/webhooks/subscriptions', body: () => ({}) },
    { ...reading, at: 'GET /launcher/api/entitlements', cells: byScopeEachTheirOwn, path: () => '/launcher/api/entitlements' },
    { ...reading, at: `GET ${api}/subscriptions`, cells: byRoute(managers), path: () => `${api}/subscriptions`, fresh: subscribed },
    { ...reading, at: `GET ${api}/verifications`, cells: byRoute(managers), path: () => `${api}/verifications` },
    { ...reading, at: `GET ${api}/claimable`, cells: byRoute(managers), path: () => `${api}/claimable` },
    {
      ...{ ...reading, at: `POST ${api}/preview`, cells: byRoute(managers), path: () => `${api}/preview`, fresh: subscribed },
      body: () => ({ package: 'five', seats: 3 }),
    },
    { ...reading, at: `GET ${api}/seats`, cells: byRoute(managers), path: () => `${api}/seats`, fresh: freshSeat },
    {
      ...{ ...writing, at: `POST ${api}/checkout`, cells: byRoute(managersWrite), path: () => `${api}/checkout`, fresh: unsubscribed },
      body: () => ({ package: 'five', ...back }),
    },
    { ...writing, at: `POST ${api}/free-workspace`, cells: byRoute(managersWrite), path: () => `${api}/free-workspace`, body: () => back },
    { ...writing, at: `POST ${api}/portal`, cells: byRoute(managersWrite), path: () => `${api}/portal`, fresh: subscribedAnywhere, body: () => back },
    {
      ...{ ...writing, at: `POST ${api}/claim`, cells: byRoute(nobodys), path: () => `${api}/claim`, fresh: freshClaim },
      body: ({ fresh }) => ({ id: fresh }),
    },
    {
      ...{ ...reading, at: `GET ${api}/verifications/claimable`, cells: byRoute(managers) },
      path: () => `${api}/verifications/claimable`,
    },
    {
      ...{ ...writing, at: `POST ${api}/verifications/claim`, cells: byRoute(nobodys), path: () => `${api}/verifications/claim`, fresh: freshVerification },
      body: ({ fresh }) => ({ id: fresh }),
    },
    {
      ...writing,
      at: `PUT ${api}/seats`,
      cells: byRoute(managersWrite),
      path: () => `${api}/seats`,
      fresh: subscribedAnywhere,
      body: () => ({ quantity: 50 }),
    },
    { ...writing, at: `PUT ${api}/seats/:userId`, cells: byRoute(managersOfIt), path: ({ fresh }) => `${api}/seats/${fresh}`, fresh: freshSeat },
    { ...writing, at: `DELETE ${api}/seats/:userId`, cells: byRoute(managersOfIt), path: ({ fresh }) => `${api}/seats/${fresh}`, fresh: freshSeat },
    {
      ...{
        scopes: all,
        less: unrelated,
        at: 'POST /launcher/api/internal/seats/reconcile',
        cells: services,
        path: () => '/launcher/api/internal/seats/reconcile',
      },
      body: ({ organization }) => ({ organizationId: organization }),
    },
  ],
}

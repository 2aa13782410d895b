import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { deliverNotices } from '../../../../subgraphs/launcher/engines/notify/deliver.ts'
import { personalScopes } from '../../../../subgraphs/scopes.ts'
import type { FactBody } from '../../../../subgraphs/store/fact-kinds.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { seedApps } from '../catalog/seed.ts'
import { seedNotification } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let outsider: Viewer
let organizationId: string
beforeAll(async () => {
  graph = await supergraph()
  await seedApps(graph, { slug: 'help-desk', title: 'Help Desk' }, { slug: 'day-planner', title: 'Day Planner', contexts: ['personal'] })
})
beforeEach(async () => {
  ;({ owner, member, outsider } = await graph.seed.owner().member().outsider())
  organizationId = owner.organizationId!
})
afterAll(() => graph[Symbol.asyncDispose]())

const alone = (viewer: Viewer): Viewer => ({ ...personally(viewer), scopes: personalScopes })
const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const shown = 'id app kind title body url severity count organization { id } readAt archivedAt'
const listed = async (as: Viewer, filter = '') =>
  (await ask(as, `{ notifications${filter && `(${filter})`} { nodes { ${shown} } } }`)).data().notifications.nodes
const ids = async (as: Viewer, filter = ''): Promise<string[]> => (await listed(as, filter)).map(({ id }: { id: string }) => id)
const unread = async (as: Viewer): Promise<number> => (await ask(as, '{ unreadNotifications }')).data().unreadNotifications
const change = (as: Viewer, name: 'markNotificationsRead' | 'archiveNotifications', input: object) =>
  ask(as, `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { unread } }`, { input })
const left = async (as: Viewer, name: 'markNotificationsRead' | 'archiveNotifications', input: object): Promise<number> =>
  (await change(as, name, input)).data()[name].unread
const own = (viewer: Viewer, scope?: string) => seedNotification(graph, { organizationId: viewer.organizationId, userId: viewer.userId! }, scope)

/** Sends the launcher a fact of another service. */
async function tell<K extends 'order.paid' | 'order.refunded' | 'budget.alert'>(from: string, kind: K, body: FactBody<K>): Promise<void> {
  const receipt = await graph.platform.launcher.receive!({ id: newId(), from, kind, subject: `test:${newId()}`, at: graph.clock.now(), body })
  expect(receipt).toBe('received')
}
const payment = (amountMinor: number, currency: string) => ({
  organizationId,
  orderId: newId(),
  merchantId: newId(),
  amountMinor,
  currency,
  at: graph.clock.now().toISOString(),
})
const delivered = () => expect.poll(() => graph.rows('select from launcher.notices'), { timeout: 10_000 }).toEqual([])

describe('notifications', () => {
  it('tell managers what was paid and refunded, and nobody else', async () => {
    const paid = payment(1250, 'EUR')
    await tell('payments', 'order.paid', paid)
    await delivered()
    await graph.clock.advance(1000)
    await tell('payments', 'order.refunded', payment(1250, 'JPY'))
    await delivered()
    expect(await listed(owner)).toMatchObject([
      { app: 'payments', kind: 'order.refunded', title: '1250 JPY refunded for an order' },
      {
        ...{ app: 'payments', kind: 'order.paid', title: '12.50 EUR paid for an order', severity: 'NORMAL', count: 1, readAt: null },
        ...{ organization: { id: organizationId }, url: `http://localhost:4000/payments/orders/${paid.orderId}` },
      },
    ])
    for (const as of [member, outsider, alone(owner), key(organizationId, ['launcher:notifications.read'])])
      expect([await ids(as), await unread(as)]).toEqual([[], 0])
  })

  it('tell a requester of the decision, and everybody of the installed app', async () => {
    const { id } = (await ask(member, 'mutation { requestAccess(input: { app: "help-desk" }) { id } }')).data().requestAccess
    await using live = await graph.subscribe('subscription { notificationReceived { kind title } }', {}, { as: member })
    ;(await ask(owner, `mutation { decideAccessRequest(input: { id: "${id}", decision: APPROVE, comment: "Enjoy" }) { id } }`)).data()
    await delivered()
    const told = [(await live.next()).notificationReceived, (await live.next()).notificationReceived]
    expect(told.map(({ title }) => title).sort()).toEqual(['Help Desk was installed', 'Your request for Help Desk was approved'])
    expect((await listed(member, 'app: "launcher"')).find(({ kind }: { kind: string }) => kind === 'ACCESS_DECIDED')).toMatchObject({ body: 'Enjoy' })
    expect((await listed(owner)).map(({ kind }: { kind: string }) => kind)).toEqual(['app.installed'])
  })

  it('tell one person what they installed in personal context, there alone', async () => {
    ;(await ask(alone(member), 'mutation { installApp(input: { app: "day-planner" }) { id } }')).data()
    await delivered()
    expect(await listed(alone(member))).toMatchObject([{ kind: 'app.installed', title: 'Day Planner was installed', organization: null }])
    expect([await ids(member), await ids(alone(owner))]).toEqual([[], []])
  })

  it('join what is unread and of the same scope, and begin anew once it is read', async () => {
    const limitId = newId()
    const alert = async (kind: string) => {
      await graph.clock.advance(1000)
      await tell('providers', 'budget.alert', { organizationId, limitId, scopeType: 'ORGANIZATION', kind })
      await delivered()
    }
    await using live = await graph.subscribe('subscription { notificationReceived { id title count } }', {}, { as: owner })
    await alert('PERCENT_50')
    const [first] = await ids(owner)
    await own(owner, 'another scope')
    await alert('EXHAUSTED')
    expect((await live.next()).notificationReceived).toMatchObject({ id: first, count: 1 })
    expect((await live.next()).notificationReceived).toEqual({ id: first, title: 'A spend limit is spent: calls are refused', count: 2 })
    expect((await listed(owner))[0]).toMatchObject({ id: first, severity: 'CRITICAL', count: 2 })
    expect(await unread(owner)).toBe(2)
    await left(owner, 'markNotificationsRead', { ids: [first] })
    await alert('SOFT')
    expect(await listed(owner, 'unread: true, app: "providers"')).toMatchObject([{ count: 1, title: 'A spend limit has passed its soft amount' }])
    expect(await ids(owner, 'app: "providers"')).toHaveLength(2)
  })

  it('are delivered once, however many processes deliver them', async () => {
    await graph.rows(
      `insert into launcher.notices (id, organization_id, audience, app, kind, title, severity, created_at)
       select gen_random_uuid(), $1, 'organization', 'payments', 'order.paid', 'Paid', 'NORMAL', $2 from generate_series(1, 5)`,
      [organizationId, graph.clock.now()],
    )
    await Promise.all([1, 2, 3].map(() => deliverNotices(graph.platform.launcher.job('test'))))
    expect([(await ids(owner)).length, (await ids(member)).length]).toEqual([5, 5])
  })
})

describe('markNotificationsRead', () => {
  it('marks some, all, or takes it back', async () => {
    const [one, two, three] = [await own(member), await own(member), await own(member)]
    expect(await left(member, 'markNotificationsRead', { ids: [one, one] })).toBe(2)
    expect((await ids(member, 'unread: true')).sort()).toEqual([two, three].sort())
    expect(await left(member, 'markNotificationsRead', { all: true })).toBe(0)
    expect(await left(member, 'markNotificationsRead', { ids: [two], read: false })).toBe(1)
    expect(await ids(member, 'unread: true')).toEqual([two])
  })

  it('refuses another person’s, and marks none then', async () => {
    const [mine, theirs] = [await own(member), await own(owner)]
    for (const strange of [theirs, newId()]) (await change(member, 'markNotificationsRead', { ids: [mine, strange] })).refused('NOT_FOUND')
    ;(await change(alone(member), 'markNotificationsRead', { ids: [mine] })).refused('NOT_FOUND')
    expect([await unread(member), await unread(owner)]).toEqual([1, 1])
    expect(await left(member, 'markNotificationsRead', { all: true })).toBe(0)
    expect(await unread(owner)).toBe(1)
  })

  it('takes exactly one of ids and all, and keys need the scope to write', async () => {
    for (const input of [
      {},
      { ids: [], all: true },
      { ids: [newId()], all: true },
      { ids: [] },
      { ids: ['nonsense'] },
      { ids: Array.from({ length: 101 }, () => newId()) },
    ])
      (await change(member, 'markNotificationsRead', input)).refused('BAD_USER_INPUT')
    ;(await change(key(organizationId, ['launcher:notifications.read']), 'markNotificationsRead', { all: true })).refused('FORBIDDEN')
    expect(await left(key(organizationId, ['launcher:notifications.write']), 'markNotificationsRead', { all: true })).toBe(0)
  })
})

describe('archiveNotifications', () => {
  it('takes notifications out of the list, read, and back among the others', async () => {
    const [one, two] = [await own(member), await own(member)]
    expect(await left(member, 'archiveNotifications', { ids: [one] })).toBe(1)
    expect([await ids(member), await ids(member, 'archived: true')]).toEqual([[two], [one]])
    const [archived] = await listed(member, 'archived: true')
    expect([archived.readAt, archived.archivedAt]).toEqual([graph.clock.now().toISOString(), graph.clock.now().toISOString()])
    expect(await left(member, 'markNotificationsRead', { ids: [one], read: false })).toBe(1)
    expect(await left(member, 'archiveNotifications', { ids: [one], archived: false })).toBe(1)
    expect((await ids(member)).sort()).toEqual([one, two].sort())
    expect(await left(member, 'archiveNotifications', { all: true })).toBe(0)
    expect(await ids(member)).toEqual([])
    ;(await change(member, 'archiveNotifications', { ids: [], all: true })).refused('BAD_USER_INPUT')
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { seedMembership } from '../../identity/membership/seed.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const ask = async (as: Viewer, name: string, input: object, fields: string) => {
  const text = `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) ${fields} }`
  return (await graph.execute(text, { input }, { as })).data()[name]
}

/** A brand with two webhooks and a calendar feed, which its owner has moved to another organization of theirs. */
async function moved() {
  const { owner, brand, elsewhere, organization } = await graph.seed.owner().outsider().brand()
  await seedMembership(graph, { organizationId: elsewhere.id, userId: owner.userId!, role: 'member' })
  const there = person(owner.userId!, elsewhere.id, ['owner'])
  const webhook = async () => {
    const input = { brandId: brand.id, url: `${graph.x.origin}/hooks/moved`, events: ['post.scheduled'] }
    return (await ask(owner, 'createWebhookEndpoint', input, '{ endpoint { id state active } }')).endpoint
  }
  const webhooks = [await webhook(), await webhook()]
  const { url } = await ask(owner, 'createCalendarFeed', { brandId: brand.id }, '{ url resting }')
  const { http } = graph.platform.subgraphs.find(({ registration }) => registration.slug === 'publishing')!
  const transfer = (as: Viewer, organizationId: string) => ask(as, 'transferBrand', { id: brand.id, organizationId }, '{ id }')
  await transfer(owner, elsewhere.id)
  return {
    ...{ owner, there, home: organization.id, elsewhere: elsewhere.id, brandId: brand.id, webhooks, transfer },
    feed: async () => (await http!(new Request(url), null as never)).status,
    states: async (as: Viewer) =>
      (
        await graph.execute(
          `{ webhookEndpoints(brandId: "${brand.id}") { state active disabledReason } calendarFeed(brandId: "${brand.id}") { resting url } }`,
          {},
          { as },
        )
      ).data(),
    told: async () =>
      (
        await graph.rows<{ kind: string; body: { organizationId?: string; title?: string; kind?: string; audience?: string } }>(
          `select kind, body from publishing.facts where body->>'key' = $1 order by seq`,
          [`resting:${brand.id}`],
        )
      ).map(({ kind, body }) => (kind === 'attention.opened' ? [body.organizationId, body.kind, body.audience, body.title] : kind)),
    deliveries: async () => (await graph.rows('select 1 from publishing.webhook_deliveries where brand_id = $1', [brand.id])).length,
    post: () =>
      ask(
        there,
        'createPost',
        { brandId: brand.id, platform: 'X', copy: `At ${graph.clock.now().toISOString()}`, scheduledAt: graph.clock.in(86_400_000) },
        '{ id }',
      ),
  }
}

const opened = (organizationId: string, what: string) => [
  organizationId,
  'WEBHOOK_RESTING',
  'managers',
  expect.stringMatching(new RegExp(`came with ${what} of its former organization`)),
]

describe('the webhooks and connections of a brand that moves to another organization', () => {
  test('wait until the new managers confirm each; confirming answers the same when repeated', async () => {
    const { there, brandId, elsewhere, webhooks, feed, states, told, deliveries, post } = await moved()
    expect(webhooks[0]).toMatchObject({ state: 'ACTIVE', active: true })
    const resting = { state: 'RESTING', active: false, disabledReason: expect.stringContaining('another organization') }
    expect(await states(there)).toEqual({ webhookEndpoints: [resting, resting], calendarFeed: { resting: true, url: null } })
    expect(await feed()).toBe(404)
    expect(await told()).toEqual([opened(elsewhere, '2 webhooks and a calendar feed')])
    await post()
    expect(await deliveries()).toBe(0)
    const confirm = () => ask(there, 'confirmWebhookEndpoint', { id: webhooks[0].id }, '{ state active version }')
    expect(await confirm()).toEqual({ state: 'ACTIVE', active: true, version: 2 })
    expect(await confirm(), 'once').toEqual({ state: 'ACTIVE', active: true, version: 2 })
    await post()
    expect(await deliveries()).toBe(1)
    expect(await ask(there, 'confirmCalendarFeed', { brandId }, '{ resting url }')).toEqual({ resting: false, url: null })
    expect(await feed()).toBe(200)
    expect((await told()).slice(1)).toEqual([opened(elsewhere, 'a webhook and a calendar feed'), opened(elsewhere, 'a webhook')])
    await ask(there, 'deleteWebhookEndpoint', { id: webhooks[1].id }, '{ id }')
    expect((await told()).slice(3)).toEqual(['attention.closed'])
    const audited = `select action from publishing.audit_entries where tenant_id = $1 and action like '%.confirmed' order by at, id`
    await ask(there, 'confirmCalendarFeed', { brandId }, '{ id }')
    expect(await graph.rows(audited, [brandId])).toEqual([{ action: 'webhook.confirmed' }, { action: 'calendar_feed.confirmed' }])
  })

  test('need no confirmation when the brand returns to its former organization', async () => {
    const { owner, there, home, elsewhere, feed, states, told, transfer } = await moved()
    await transfer(there, home)
    const active = { state: 'ACTIVE', active: true, disabledReason: null }
    expect(await states(owner)).toEqual({ webhookEndpoints: [active, active], calendarFeed: { resting: false, url: null } })
    expect(await feed()).toBe(200)
    expect(await told()).toEqual([opened(elsewhere, '2 webhooks and a calendar feed'), 'attention.closed'])
  })

  test('cannot be confirmed by the former organization, and the request ends when they are disabled, edited or deleted', async () => {
    const { owner, there, brandId, webhooks, told } = await moved()
    const confirm = 'mutation($input: ConfirmWebhookEndpointInput!) { confirmWebhookEndpoint(input: $input) { id } }'
    ;(await graph.execute(confirm, { input: { id: webhooks[0].id } }, { as: owner })).refused('NOT_FOUND')
    const confirmFeed = 'mutation($input: ConfirmCalendarFeedInput!) { confirmCalendarFeed(input: $input) { id } }'
    ;(await graph.execute(confirmFeed, { input: { brandId } }, { as: owner })).refused('NOT_FOUND')
    expect(await ask(there, 'updateWebhookEndpoint', { id: webhooks[0].id, active: false }, '{ state }')).toEqual({ state: 'INACTIVE' })
    expect(await ask(there, 'updateWebhookEndpoint', { id: webhooks[1].id, active: true }, '{ state }')).toEqual({ state: 'ACTIVE' })
    expect(await ask(there, 'createCalendarFeed', { brandId }, '{ resting }')).toEqual({ resting: false })
    expect((await told()).at(-1)).toBe('attention.closed')
    await ask(there, 'revokeCalendarFeed', { brandId }, '{ id }')
    ;(await graph.execute(confirmFeed, { input: { brandId } }, { as: there })).refused('NOT_FOUND')
    expect((await graph.execute(`{ calendarFeed(brandId: "${brandId}") { id } }`, {}, { as: there })).data().calendarFeed).toBe(null)
  })
})

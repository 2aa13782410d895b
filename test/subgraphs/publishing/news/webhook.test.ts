import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { armCrash } from '../../../../platform/crash.ts'
import { createCallersWay } from '../../../../platform/outbound/callers.ts'
import type { ResolveName } from '../../../../platform/outbound/names.ts'
import { createOutbound } from '../../../../platform/outbound/outbound.ts'
import { createReaches } from '../../../../platform/outbound/public.ts'
import { pauses } from '../../../../platform/outbound/webhooks/tries.ts'
import { deliverWebhook, webhookJobs } from '../../../../subgraphs/publishing/news/webhook/deliver.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedBrand } from '../brand/seed.ts'
import { createPost, deletePost, reschedulePost } from '../documents.ts'

interface Told {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Somebody who takes webhooks: answers with the next of these statuses, and with 204 when there is none. */
const answers: number[] = []
const told: Told[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', part => {
    body += part
  })
  request.on('end', () => {
    told.push({ headers: request.headers, body })
    response.writeHead(answers.shift() ?? 204, { location: '/elsewhere' }).end()
  })
})

let graph: Supergraph
let owner: Viewer
let outsider: Viewer
let origin: string
beforeAll(async () => {
  await new Promise<void>(done => {
    server.listen(0, '127.0.0.1', done)
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  graph = await supergraph({ sandbox: true, trusts: [origin] })
  const world = await graph.seed.owner().outsider()
  owner = world.owner
  outsider = world.outsider
})
afterAll(async () => {
  await graph[Symbol.asyncDispose]()
  server.close()
})
beforeEach(() => {
  answers.length = 0
  told.length = 0
})

const fields = '{ id brandId url events active description disabledReason version }'
const run = async (name: string, input: object, selection: string, as = owner) =>
  graph.execute(`mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) ${selection} }`, { input }, { as })
const aBrand = async () => (await seedBrand(graph, { organizationId: owner.organizationId! })).id
const create = async (brandId: string, more: object = {}) =>
  (await run('createWebhookEndpoint', { brandId, url: `${origin}/hook`, events: ['post.scheduled'], ...more }, `{ secret endpoint ${fields} }`)).data()
    .createWebhookEndpoint
const read = async (id: string) =>
  (
    await graph.execute(
      `query($id: ID!) { webhookEndpoint(id: $id) { active disabledReason deliveries { nodes { id event postId attempts status responseStatus nextAttemptAt } totalCount } } }`,
      { id },
      { as: owner },
    )
  ).data().webhookEndpoint
const schedule = async (brandId: string) => {
  const input = { brandId, platform: 'X', copy: 'Hooked', scheduledAt: graph.clock.in(86_400_000).toISOString() }
  return (await graph.execute(createPost, { input }, { as: owner })).data().createPost.id as string
}
/** The way out where a name has these addresses one after the other, and the last from then on. */
function wayOutOf(addresses: readonly string[]) {
  let asked = 0
  const resolve: ResolveName = (_name, _options, done) => done(null, [{ address: addresses[Math.min(asked++, addresses.length - 1)]!, family: 4 }])
  return { callersWay: createCallersWay([], resolve) }
}
/** Has everything tried that is due. */
const sweep = () => webhookJobs(() => graph.job, { clock: graph.clock, log: graph.job.log }).sweep.run()
/** Makes one try of a delivery. */
const tryOnce = (brandId: string, id: string, endpointId: string, job = graph.job) => deliverWebhook(job, { brandId, id, endpointId })
/** Moves time past the next try. */
const later = async (ms: number) => {
  await graph.clock.advance(ms + 2_100)
  await sweep()
}

describe('a webhook', () => {
  test('receives the events that it subscribed to, signed by the secret that was shown once, and nothing else', async () => {
    const brandId = await aBrand()
    const { secret, endpoint } = await create(brandId, { events: ['post.scheduled', 'post.scheduled'] })
    expect(endpoint).toMatchObject({ url: `${origin}/hook`, events: ['post.scheduled'], active: true, version: 1 })
    const postId = await schedule(brandId)
    ;(await graph.execute(createPost, { input: { brandId, platform: 'X', copy: 'A draft' } }, { as: owner })).data()
    await later(0)
    expect(told.length).toBe(1)
    const { headers, body } = told[0]!
    const event = JSON.parse(body)
    expect(event).toMatchObject({
      type: 'post.scheduled',
      timestamp: expect.any(String),
      data: { brandId, postId, platform: 'X', status: 'SCHEDULED', version: 1 },
    })
    const at = new Date(Number(headers['webhook-timestamp']) * 1000)
    expect(new Webhook(secret).sign(headers['webhook-id'] as string, at, body)).toBe(headers['webhook-signature'])
    const { deliveries } = await read(endpoint.id)
    expect(deliveries.nodes).toMatchObject([
      { id: headers['webhook-id'], event: 'post.scheduled', postId, attempts: 1, status: 'DELIVERED', responseStatus: 204 },
    ])
    expect(JSON.stringify(await graph.rows('select * from publishing.webhook_endpoints'))).not.toContain(secret)
  })

  test('that answers with an error gets the event again under the same id and with the same body, after 5 s and 5 min', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    answers.push(500, 302)
    await schedule(brandId)
    await later(0)
    expect((await read(endpoint.id)).deliveries.nodes).toMatchObject([{ attempts: 1, status: 'PENDING', responseStatus: 500 }])
    await graph.clock.advance(1_000)
    await sweep()
    expect(told.length, 'not before its time').toBe(1)
    await later(5_000)
    await later(300_000)
    expect(told.length).toBe(3)
    expect(new Set(told.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
    expect((await read(endpoint.id)).deliveries.nodes).toMatchObject([{ attempts: 3, status: 'DELIVERED' }])
  })

  test('that answers 410 receives nothing more, until somebody reactivates it', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    answers.push(410)
    await schedule(brandId)
    await later(0)
    expect(await read(endpoint.id)).toMatchObject({
      active: false,
      disabledReason: expect.stringContaining('410'),
      deliveries: { nodes: [{ status: 'FAILED' }] },
    })
    await schedule(brandId)
    await later(0)
    expect(told.length).toBe(1)
    ;(await run('testWebhookEndpoint', { id: endpoint.id }, '{ id }')).refused('CONFLICT')
    expect((await run('updateWebhookEndpoint', { id: endpoint.id, active: true }, fields)).data().updateWebhookEndpoint).toMatchObject({
      active: true,
      disabledReason: null,
    })
    await schedule(brandId)
    await later(0)
    expect(told.length).toBe(2)
  })

  test('whose last attempt fails receives nothing more, and says why', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    await schedule(brandId)
    await graph.rows('update publishing.webhook_deliveries set attempts = $2 where brand_id = $1', [brandId, pauses.length - 1])
    answers.push(503)
    await later(0)
    expect(await read(endpoint.id)).toMatchObject({
      active: false,
      disabledReason: expect.stringContaining('10 tries over three days failed, the last time with 503'),
      deliveries: { nodes: [{ status: 'FAILED', attempts: 10, responseStatus: 503, nextAttemptAt: null }] },
    })
    await schedule(brandId)
    await later(86_400_000)
    expect(told.length).toBe(1)
    const record = await graph.rows(`select action from publishing.audit_entries where tenant_id = $1 and action like 'webhook.%' order by id`, [brandId])
    expect(record).toEqual([{ action: 'webhook.created' }, { action: 'webhook.disabled' }])
  })

  test.each([
    ['lies in our own network by now', () => ({}), 'http://localhost/hook'],
    // Public when it is looked at, private when it is connected to.
    ['changes its name’s address in between', () => wayOutOf(['93.184.216.34', '127.0.0.1']), 'http://hook.example/hook'],
    ['has a name that leads to a private place', () => wayOutOf(['10.0.0.7']), 'http://hook.example/hook'],
    ['is one that we call ourselves', () => ({ callersWay: { outbound: createOutbound([origin]), reaches: createReaches([]) } }), 'http://127.0.0.1/hook'],
  ])('whose address %s is not asked', async (_, changed, address) => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    await schedule(brandId)
    const [{ id }] = (await read(endpoint.id)).deliveries.nodes
    const url = new URL(address)
    url.port = new URL(origin).port
    await graph.rows('update publishing.webhook_endpoints set url = $2 where id = $1', [endpoint.id, url.href])
    await tryOnce(brandId, id, endpoint.id, Object.create(graph.job, Object.getOwnPropertyDescriptors(changed())))
    expect(told).toEqual([])
    expect((await read(endpoint.id)).deliveries.nodes).toMatchObject([{ status: 'PENDING', attempts: 1, responseStatus: null }])
    // What waits here would be told while another test listens.
    await graph.rows('delete from publishing.webhook_deliveries where brand_id = $1', [brandId])
  })

  test('is signed by both secrets for a day after a rotation', async () => {
    const brandId = await aBrand()
    const { secret: former, endpoint } = await create(brandId)
    const { secret } = (await run('rotateWebhookSecret', { id: endpoint.id }, '{ secret endpoint { version } }')).data().rotateWebhookSecret
    const signedBy = async (...secrets: string[]) => {
      await schedule(brandId)
      await later(0)
      const { headers, body } = told.at(-1)!
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      const wanted = secrets.map(each => new Webhook(each).sign(headers['webhook-id'] as string, at, body))
      expect(String(headers['webhook-signature']).split(' ').toSorted()).toEqual(wanted.toSorted())
    }
    await signedBy(secret, former)
    await graph.clock.advance(86_400_000)
    await signedBy(secret)
  })

  test('is signed by each former secret for a day after it was replaced, however often that is, up to ten', async () => {
    const brandId = await aBrand()
    const { secret: first, endpoint } = await create(brandId)
    const rotate = () => run('rotateWebhookSecret', { id: endpoint.id }, '{ secret }')
    const secrets = [first]
    const hour = 3_600_000
    for (let at = 0; at < 10; at += 1) {
      secrets.push((await rotate()).data().rotateWebhookSecret.secret)
      await graph.clock.advance(hour)
    }
    expect((await rotate()).refused('RATE_LIMITED').extensions.retryAfter).toBe(14 * 3_600)
    const signing = async () => {
      await schedule(brandId)
      await later(0)
      const { headers, body } = told.at(-1)!
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      const signatures = String(headers['webhook-signature']).split(' ')
      return secrets.flatMap((each, place) => (signatures.includes(new Webhook(each).sign(headers['webhook-id'] as string, at, body)) ? [place] : []))
    }
    expect(await signing()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    await graph.clock.advance(14 * hour)
    expect(await signing(), 'without the one that was replaced a day ago').toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    secrets.push((await rotate()).data().rotateWebhookSecret.secret)
    expect(JSON.stringify(await graph.rows('select * from publishing.webhook_former_secrets'))).not.toContain('whsec_')
    await graph.clock.advance(24 * hour)
    expect(await signing()).toEqual([11])
  })

  test('whose attempt was interrupted gets another one, never two at once, and not for rolled back changes', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    ;(
      await graph.execute(
        createPost,
        { input: { brandId, platform: 'X', copy: 'x', threadId: brandId, scheduledAt: graph.clock.in(1e8).toISOString() } },
        { as: owner },
      )
    ).refused('NOT_FOUND')
    await schedule(brandId)
    const [{ id }] = (await read(endpoint.id)).deliveries.nodes
    // As a worker leaves it that was killed after it had counted its try.
    await graph.rows(`update publishing.webhook_deliveries set attempts = 1, next_attempt_at = $2 where id = $1`, [id, graph.clock.in(30_000)])
    await sweep()
    await tryOnce(brandId, id, endpoint.id)
    expect(told.length, 'not beside a try that may be under way').toBe(0)
    await graph.clock.advance(33_000)
    await Promise.all([tryOnce(brandId, id, endpoint.id), tryOnce(brandId, id, endpoint.id), sweep()])
    expect(told.length).toBe(1)
    expect((await read(endpoint.id)).deliveries).toMatchObject({ totalCount: 1, nodes: [{ attempts: 2, status: 'DELIVERED' }] })
  })

  test.each([
    ['webhook-claimed', 1],
    ['webhook-answered', 2],
    ['webhook-settled', 2],
  ])('is neither lost nor another one when a process ends at %s', async (point, requests) => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    await schedule(brandId)
    const [{ id }] = (await read(endpoint.id)).deliveries.nodes
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw new Error('power failure')
    })
    armCrash(point)
    await expect(tryOnce(brandId, id, endpoint.id)).rejects.toThrow('power failure')
    armCrash(null)
    kill.mockRestore()
    expect((await read(endpoint.id)).deliveries.nodes).toMatchObject([{ status: 'PENDING', attempts: 1 }])
    await graph.clock.advance(33_000)
    await sweep()
    expect((await read(endpoint.id)).deliveries.nodes).toMatchObject([{ id, status: 'DELIVERED', attempts: 2 }])
    expect(told.map(({ headers }) => headers['webhook-id'])).toEqual(Array(requests).fill(id))
  })

  test('can be tested, and can get an earlier event again under its id', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    const { id } = (await run('testWebhookEndpoint', { id: endpoint.id }, '{ id status }')).data().testWebhookEndpoint
    ;(await run('redeliverWebhook', { id }, '{ id }')).refused('CONFLICT')
    await later(0)
    expect(JSON.parse(told[0]!.body)).toMatchObject({ type: 'webhook.test', data: { brandId } })
    ;(await run('redeliverWebhook', { id }, '{ id }')).data()
    await later(0)
    expect(told.map(({ headers }) => headers['webhook-id'])).toEqual([id, id])
  })

  test('of a brand that moved receives nothing until its new organization confirms it', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    await graph.rows('update publishing.brands set organization_id = $2 where id = $1', [brandId, outsider.organizationId])
    const input = { brandId, platform: 'X', copy: 'Ours', scheduledAt: graph.clock.in(86_400_000).toISOString() }
    ;(await graph.execute(createPost, { input }, { as: outsider })).data()
    await later(0)
    expect(told.length).toBe(0)
    const updated = await run('updateWebhookEndpoint', { id: endpoint.id, active: true }, fields, outsider)
    expect(updated.data().updateWebhookEndpoint).toMatchObject({ active: true, disabledReason: null })
    ;(await graph.execute(createPost, { input }, { as: outsider })).data()
    await later(0)
    expect(told.length).toBe(1)
  })

  test.each([
    ['on a private network', { url: 'http://127.0.0.1:9/hook' }, 'url'],
    ['of a name of this machine', { url: 'http://localhost:9/hook' }, 'url'],
    ['in the network of a cloud', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['of IPv6 that leads home', { url: 'http://[::1]:9/' }, 'url'],
    ['with a password', { url: 'https://a:b@example.com/' }, 'url'],
    ['of another scheme', { url: 'ftp://example.com/' }, 'url'],
    ['without an event', { events: [] }, 'events'],
    ['for an event that is never told', { events: ['post.deleted'] }, 'events'],
  ])('is never made %s', async (_, input, field) => {
    const brandId = await aBrand()
    const answer = await run('createWebhookEndpoint', { brandId, url: 'https://example.com/', events: ['post.failed'], ...input }, '{ secret }')
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  test('is created once for one key, whose secret is shown the first time; a brand has twenty at most', async () => {
    const brandId = await aBrand()
    const [one, two] = [await create(brandId, { idempotencyKey: 'k' }), await create(brandId, { idempotencyKey: 'k' })]
    expect(two).toEqual({ ...one, secret: null })
    for (let made = 1; made < 20; made += 1) await create(brandId)
    const answer = await run('createWebhookEndpoint', { brandId, url: `${origin}/hook`, events: ['post.failed'] }, '{ secret }')
    expect(answer.refused('CONFLICT').extensions.reason).toBe('QUOTA')
  })

  test('is deleted with its deliveries', async () => {
    const brandId = await aBrand()
    const { endpoint } = await create(brandId)
    const post = await schedule(brandId)
    ;(await run('deleteWebhookEndpoint', { id: endpoint.id }, '{ id }')).data()
    ;(await graph.execute(reschedulePost, { input: { id: post, scheduledAt: graph.clock.in(2e8).toISOString() } }, { as: owner })).data()
    ;(await graph.execute(deletePost, { input: { id: post } }, { as: owner })).data()
    await later(0)
    expect(told.length).toBe(0)
    expect(await graph.rows('select 1 from publishing.webhook_deliveries where brand_id = $1', [brandId])).toEqual([])
  })
})

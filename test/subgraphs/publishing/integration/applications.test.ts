import { createHmac } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CallWhole } from '../../../../platform/ask.ts'
import { newId } from '../../../../platform/ids.ts'
import { deletions } from '../../../../subgraphs/publishing/connection/revocation/deletion.ts'
import { openApplications } from '../../../../subgraphs/publishing/network/account/applications.ts'
import type { Platform } from '../../../../subgraphs/publishing/network/network.ts'
import { loadAdapters } from '../../../../subgraphs/publishing/network/networks.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { boundTime } from '../../../kit/time.ts'
import { seedCredential } from '../../providers/credential/seed.ts'
import { stored, texts, twoHours, wake } from '../delivery/delivering.ts'
import { connectIntegration } from '../documents.ts'

describe('an application that the gateway to providers keeps', async () => {
  const adapters = await loadAdapters()
  const kept = { status: 200, headers: new Headers(), text: JSON.stringify({ platform: 'x', clientId: 'one', clientSecret: 'secret-of-one' }) }
  const whereabouts = { X: { authorizeUrl: 'https://x.test/authorize', apiUrl: 'https://api.x.test', legacyApiUrl: 'https://old.x.test' } }

  function opened(answer: CallWhole | null = async () => kept, configured = {}) {
    const clock = boundTime()
    const asked: string[] = []
    const lines: string[] = []
    const world = { answer }
    const call: CallWhole = async (path, as, options) => {
      asked.push(`${path} ${as.appId} ${as.organizationId}`)
      return world.answer!(path, as, options)
    }
    const log = pino({ level: 'debug' }, { write: line => void lines.push(line) })
    const outbound = Object.assign(async () => Promise.reject(new Error('nobody is called')), { stream: async () => Promise.reject(new Error('nobody')) })
    const applications = openApplications({ appId: 'app_publishing', adapters, configured, whereabouts, call: answer && call, clock, log, outbound })
    const find = (organizationId = 'org', platform: Platform = 'X') => applications.find(platform, organizationId)
    return { clock, asked, lines, world, applications, find }
  }

  test('is requested by publishing for the organization, once for concurrent callers, and again after a minute', async () => {
    const { asked, clock, find } = opened()
    const found = await Promise.all([find(), find(), find()])
    expect(found.map(({ application }) => application)).toEqual(Array(3).fill({ clientId: 'one', clientSecret: 'secret-of-one', ...whereabouts.X }))
    expect(asked).toEqual(['/providers/api/internal/network-applications/x app_publishing org'])
    await clock.advance(59_999)
    await find()
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    await find()
    await find('another')
    expect(asked.slice(1).map(line => line.split(' ')[2])).toEqual(['org', 'another'])
  })

  test('is refreshed within a minute of its rotation or removal', async () => {
    const { clock, find, world } = opened()
    await find()
    world.answer = async () => ({ ...kept, text: kept.text.replace('secret-of-one', 'secret-of-two') })
    await clock.advance(60_000)
    expect((await find()).application?.clientSecret).toBe('secret-of-two')
    world.answer = async () => ({ ...kept, status: 404, text: '{}' })
    await clock.advance(60_000)
    expect(await find()).toEqual({ application: null, network: null, isKnown: true })
  })

  test('is never used longer than a minute, whatever is unavailable; a failure is retried after five seconds, and logged', async () => {
    const { asked, clock, find, lines, world } = opened()
    await find()
    world.answer = async () => Promise.reject(new Error('it is away'))
    await clock.advance(60_000)
    expect(await Promise.all([find(), find()])).toEqual(Array(2).fill({ application: null, network: null, isKnown: false }))
    await find()
    expect([asked.length, lines.length]).toEqual([2, 1])
    expect(lines[0]).toMatch(/it is away.*could not be read from providers/)
    await clock.advance(5_000)
    for (const answer of [
      { ...kept, status: 500 },
      { ...kept, text: '<html>' },
      { ...kept, text: '{"clientId":"one","clientSecret":""}' },
    ]) {
      world.answer = async () => answer
      expect((await find()).application).toBe(null)
      await clock.advance(5_000)
    }
    world.answer = async () => kept
    expect((await find()).application?.clientId).toBe('one')
    expect(lines.join('')).not.toContain('secret-of')
  })

  test('is absent if publishing may not read it, which is logged once', async () => {
    const { clock, find, lines } = opened(async () => ({ ...kept, status: 403, text: '{}' }))
    for (let minute = 0; minute < 3; minute += 1) {
      expect(await find()).toMatchObject({ application: null, isKnown: true })
      await clock.advance(60_000)
    }
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('NETWORK_APPLICATIONS')
    expect(await opened(null).find()).toMatchObject({ application: null, isKnown: true })
  })

  test('is not requested when one is configured, nor for a network without address; LinkedIn pages have a name of their own', async () => {
    const configured = { X: { clientId: 'configured', clientSecret: 'of the environment', ...whereabouts.X } }
    const { applications, asked, find } = opened(async () => kept, configured)
    const found = await find()
    expect(found.application).toBe(configured.X)
    expect(found.network).toBe(applications.networks.get('X'))
    expect(await find('org', 'THREADS')).toMatchObject({ application: null, isKnown: true })
    expect(asked).toEqual([])
  })
})

describe('P-24 with applications that the gateway keeps', () => {
  let graph: Supergraph
  beforeAll(async () => {
    graph = await supergraph({ sandbox: true, applications: 'kept' })
    await graph.rows(
      `insert into providers.service_clients (id, app_id, name, operations, active, created_at, updated_at, created_by)
       values ($1, 'app_publishing', 'Publishing', '{NETWORK_APPLICATIONS}', true, now(), now(), 'test')`,
      [newId()],
    )
  })
  afterAll(() => graph[Symbol.asyncDispose]())

  const integrations = 'query ($brandId: ID) { integrations(brandId: $brandId) { platform application readiness connectable reason attention connected } }'
  const standing = async (as: Viewer, platform = 'X') => {
    const { data } = await graph.execute(integrations, {}, { as }).then(answer => ({ data: answer.data() }))
    return (data.integrations as { platform: string }[]).find(each => each.platform === platform)
  }
  const connect = (as: Viewer, brandId: string, platform = 'X') => graph.execute(connectIntegration, { input: { brandId, platform } }, { as })
  const keep = async (
    organizationId: string | null,
    { clientId, clientSecret, provider = 'x' }: { clientId: string; clientSecret: string; provider?: string },
  ) => {
    graph.secrets.note({ clientSecret })
    await seedCredential(graph, { organizationId, provider, name: provider, secret: clientSecret, plain: { clientId } })
    await graph.clock.advance(60_000)
  }
  const createPost = `mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }`

  test('accounts are connected, posts sent and access renewed by the platform’s, or by the organization’s own', async () => {
    const { owner, brand, outsider, elsewhere } = await graph.seed.owner().brand().outsider()
    expect(await standing(owner)).toMatchObject({ application: false, readiness: 'SETUP_REQUIRED', connectable: false, attention: null })
    expect((await connect(owner, brand.id)).error).toMatchObject({ extensions: { code: 'CONFLICT', reason: 'NOT_CONNECTABLE' } })
    const draft = { brandId: brand.id, platform: 'X', copy: 'Nowhere to go.', scheduledAt: graph.clock.soon() }
    expect((await graph.execute(createPost, { input: draft }, { as: owner })).error?.message).toMatch(/cannot be scheduled here: no application/)

    await keep(null, graph.x.settings)
    await keep(elsewhere.id, { clientId: 'an-application-of-their-own', clientSecret: 'a-secret-of-their-own' })
    expect(await standing(owner)).toMatchObject({ application: true, readiness: 'SANDBOX_ONLY', connectable: true, reason: null })
    const theirs = (await graph.execute('mutation { createBrand(input: { name: "Theirs" }) { id } }', {}, { as: outsider })).data().createBrand
    const addresses = [await connect(owner, brand.id), await connect(outsider, theirs.id)].map(
      answer => new URL(answer.data().connectIntegration.authorizationUrl),
    )
    expect(addresses.map(({ searchParams }) => searchParams.get('client_id'))).toEqual([graph.x.settings.clientId, 'an-application-of-their-own'])

    const agreed = await fetch(`${addresses[0]}&sandbox_approve=1`, { redirect: 'manual' })
    const back = await graph.platform.publishing.http!(new Request(agreed.headers.get('location')!), anonymous)
    expect([back.status, await back.text()]).toEqual([200, expect.stringContaining('@demo')])
    expect(await standing(owner)).toMatchObject({ connected: true })

    const input = { ...draft, copy: 'After the token has ended.', scheduledAt: graph.clock.in(twoHours).toISOString() }
    const { id } = (await graph.execute(createPost, { input }, { as: owner })).data().createPost
    await graph.clock.advance(twoHours)
    const post = { postId: id, id, brandId: brand.id } as never
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED' })
    expect(await texts(graph)).toEqual(['After the token has ended.'])
    expect(graph.sent.filter(line => line.startsWith('POST /x/2/oauth2/token'))).toHaveLength(2)

    // Gone at the gateway: what was granted works on, and only what needs the application waits for the operator.
    await graph.rows('delete from providers.credentials')
    await graph.clock.advance(60_000)
    expect(await standing(owner)).toMatchObject({
      application: false,
      readiness: 'SANDBOX_ONLY',
      connectable: false,
      attention: expect.stringMatching(/operator/),
    })
    const again = (
      await graph.execute(createPost, { input: { ...draft, copy: 'By what was granted.', scheduledAt: graph.clock.soon() } }, { as: owner })
    ).data()
    await graph.clock.advance(60_000)
    await wake(graph, { ...(post as object), id: again.createPost.id, postId: again.createPost.id } as never)
    expect(await texts(graph)).toEqual(['After the token has ended.', 'By what was granted.'])
    const lines = graph.log.join('')
    for (const secret of [graph.x.settings.clientSecret, 'a-secret-of-their-own']) expect(lines).not.toContain(secret)
  })

  test('verifies signed requests for accounts connected with its application only', async () => {
    const one = await graph.seed.owner().brand('One').connection({ platform: 'THREADS', externalAccountId: 'ada1815' })
    const two = await graph.seed.owner().brand('Two').connection({ platform: 'THREADS', externalAccountId: 'ada1815' })
    await keep(one.organization.id, { clientId: 'of one', clientSecret: 'what the first signs with', provider: 'threads' })
    await keep(two.organization.id, { clientId: 'of two', clientSecret: 'what the second signs with', provider: 'threads' })
    const send = async (secret: string, event = 'deauthorize', user_id = 'ada1815') => {
      const issued_at = Math.floor(graph.clock.now().getTime() / 1000)
      const payload = Buffer.from(JSON.stringify({ algorithm: 'HMAC-SHA256', issued_at, user_id })).toString('base64url')
      const body = new URLSearchParams({ signed_request: `${createHmac('sha256', secret).update(payload).digest('base64url')}.${payload}` })
      const request = new Request(`http://localhost:4000/publishing/api/callbacks/threads/${event}`, { method: 'POST', body })
      return (await graph.platform.publishing.http!(request, anonymous)).status
    }
    const active = async () =>
      (
        await graph.rows<{ active: boolean }>(
          "select c.active from publishing.connections c join publishing.brands b on b.id = c.brand_id where external_account_id = 'ada1815' order by b.name",
        )
      ).map(each => each.active)
    expect([await send('what nobody signs with'), await active()]).toEqual([401, [true, true]])
    expect([await send('what the second signs with'), await active()]).toEqual([200, [true, false]])
    expect([await send('what the first signs with', 'data-deletion'), await send('what the first signs with', 'deauthorize', 'nobody1')]).toEqual([200, 200])
    expect(await active()).toEqual([false, false])
    await graph.clock.advance(45_000)
    await deletions(() => graph.job).run()
    expect(await active()).toEqual([false])
  })
})

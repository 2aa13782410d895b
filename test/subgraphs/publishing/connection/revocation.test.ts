import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { deletions } from '../../../../subgraphs/publishing/connection/revocation/deletion.ts'
import { deletionStatus } from '../../../../subgraphs/publishing/connection/revocation/page.ts'
import { revoked } from '../../../../subgraphs/publishing/connection/revocation/received.ts'
import type { Job } from '../../../../subgraphs/publishing/context.ts'
import { readSignedRequest } from '../../../../subgraphs/publishing/network/meta/signed.ts'
import type { Network, Platform } from '../../../../subgraphs/publishing/network/network.ts'
import type { Account } from '../../../../subgraphs/publishing/network/publication.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { dies } from '../../../kit/dies.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const secrets: Partial<Record<Platform, string>> = { INSTAGRAM: 'secret of Instagram', THREADS: 'secret of Threads', FACEBOOK: 'secret of Facebook' }
const networks = new Map(
  Object.entries(secrets).map(([platform, secret]) => [
    platform,
    { platform, readSigned: (request: string) => readSignedRequest(secret, request) } as unknown as Network,
  ]),
)

let graph: Supergraph
let job: Job
let brands: readonly { readonly id: string }[]
let userId: string
let accountId: string
beforeAll(async () => {
  graph = await supergraph()
  job = Object.create(graph.job, { networks: { value: networks }, applications: { value: { of: () => ({ clientId: 'of', clientSecret: 'ours' }) } } }) as Job
  const story = graph.seed.owner().brand('One')
  const { brand: one, owner } = await story
  const { brand: two } = await story.brand('Two')
  userId = owner.userId!
  brands = [one, two]
})
afterAll(() => graph[Symbol.asyncDispose]())
beforeEach(async () => {
  accountId = newId().replaceAll('-', '')
  await graph.clock.advance(1000)
})

const connect = async (brandId: string, account: Partial<Account> = {}, platform: Platform = 'INSTAGRAM') =>
  (
    await inTransaction(graph.job, ({ now, transaction }) =>
      graph.job.connections.authorize(
        {
          brandId,
          platform,
          userId,
          account: { externalId: accountId, name: '@ada', ...account },
          grant: { accessToken: 'access of nobody', refreshToken: null, expiresIn: 5_184_000, scopes: [] },
          now,
        },
        transaction,
      ),
    )
  ).after

/** What managers were told of a connection. */
const toldOf = async (id: string) =>
  (await graph.rows<{ kind: string }>("select kind from publishing.facts where body ->> 'key' = $1 order by seq", [`connection:${id}`])).map(({ kind }) => kind)

const present = async (id: string) =>
  (
    await graph.rows<{ active: boolean; access_token: string | null; version: number }>(
      'select active, access_token, version from publishing.connections where id = $1',
      [id],
    )
  )[0]

const signed = ({ user_id = accountId, ageMs = 0, by = secrets.INSTAGRAM! }: { user_id?: string; ageMs?: number; by?: string } = {}) => {
  const payload = Buffer.from(
    JSON.stringify({ algorithm: 'HMAC-SHA256', issued_at: Math.floor((graph.clock.now().getTime() - ageMs) / 1000), user_id }),
  ).toString('base64url')
  return `${createHmac('sha256', by).update(payload).digest('base64url')}.${payload}`
}

const send = async (event: 'DEAUTHORIZE' | 'DATA_DELETION', signedRequest: string, platform: Platform = 'INSTAGRAM') => {
  const answer = await revoked(
    job,
    platform,
    event,
    new Request('http://here.test', { method: 'POST', body: new URLSearchParams({ signed_request: signedRequest }) }),
  )
  return { status: answer.status, body: await answer.json() }
}

const statusOf = async (code: string, accept = 'application/json') => {
  const answer = await deletionStatus(job, code, new Request('http://here.test', { headers: { accept } }))
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

const sweep = deletions(() => job)

describe('a deauthorization', () => {
  test('deactivates every connection of the account, in all brands, erases its tokens, and leaves other accounts alone', async () => {
    const [one, two] = [await connect(brands[0]!.id), await connect(brands[1]!.id)]
    const [other, elsewhere] = [await connect(brands[0]!.id, { externalId: newId() }), await connect(brands[0]!.id, {}, 'THREADS')]
    expect(await send('DEAUTHORIZE', signed())).toEqual({ status: 200, body: {} })
    for (const { id } of [one, two]) expect(await present(id)).toEqual({ active: false, access_token: null, version: 2 })
    for (const { id } of [one, two]) expect(await toldOf(id)).toEqual(['attention.opened'])
    for (const { id } of [other, elsewhere]) expect(await present(id)).toMatchObject({ active: true, version: 1 })
    const record = await graph.rows("select actor, action, details from publishing.audit_entries where action = 'connection.revoked' and subject_id = $1", [
      one.id,
    ])
    expect(record).toEqual([{ actor: 'network:instagram', action: 'connection.revoked', details: { event: 'DEAUTHORIZE' } }])
  })

  test('finds the account by the id that the network has for our application, too', async () => {
    const { id } = await connect(brands[0]!.id, { scopedId: `scoped${accountId}` })
    await send('DEAUTHORIZE', signed({ user_id: `scoped${accountId}` }))
    expect(await present(id)).toMatchObject({ active: false })
  })

  test('that is repeated changes nothing, also when the account was connected anew meanwhile, and however its signature is written', async () => {
    const { id } = await connect(brands[0]!.id)
    const request = signed()
    await Promise.all(Array.from({ length: 5 }, () => send('DEAUTHORIZE', request)))
    expect(await present(id)).toMatchObject({ active: false, version: 2 })
    await graph.clock.advance(1000)
    await connect(brands[0]!.id)
    for (const again of [request, request.replace('.', '=.')]) expect(await send('DEAUTHORIZE', again)).toEqual({ status: 200, body: {} })
    expect(await present(id)).toMatchObject({ active: true, version: 3 })
    await graph.clock.advance(1000)
    await send('DEAUTHORIZE', signed())
    expect(await present(id)).toMatchObject({ active: false })
  })

  test('is refused with 401 when it is not signed by that network’s own secret, with 400 when it is old or malformed, and nothing changes', async () => {
    const { id } = await connect(brands[0]!.id)
    const day = 86_400_000
    for (const [request, status, code] of [
      [signed({ by: secrets.THREADS! }), 401, 'UNAUTHENTICATED'],
      [signed({ ageMs: day + 1000 }), 400, 'BAD_USER_INPUT'],
      [signed({ ageMs: -600_000 }), 400, 'BAD_USER_INPUT'],
      ['nonsense', 400, 'BAD_USER_INPUT'],
      ['', 400, 'BAD_USER_INPUT'],
    ] as const)
      for (const event of ['DEAUTHORIZE', 'DATA_DELETION'] as const) expect(await send(event, request)).toMatchObject({ status, body: { code, status } })
    expect(await present(id)).toMatchObject({ active: true, version: 1 })
    expect((await graph.rows('select from publishing.signed_requests where received_at = $1', [graph.clock.now()])).length).toBe(0)
    expect((await send('DEAUTHORIZE', signed({ ageMs: day - 2000 }))).status).toBe(200)
  })

  test.each<[string, RequestInit]>([
    ['the field twice', { body: new URLSearchParams('signed_request=a.b&signed_request=c.d') }],
    ['another field', { body: new URLSearchParams({ signed: 'a.b' }) }],
    ['JSON', { body: '{"signed_request":"a.b"}', headers: { 'content-type': 'application/json' } }],
    ['no body', {}],
    ['a form that is too long', { body: new URLSearchParams({ signed_request: 'a'.repeat(20_000) }) }],
  ])('is malformed as %s', async (_what, init) => {
    expect((await revoked(job, 'INSTAGRAM', 'DEAUTHORIZE', new Request('http://here.test', { method: 'POST', ...init }))).status).toBe(400)
  })

  test('of a network without our application affects no connection', async () => {
    expect((await send('DEAUTHORIZE', signed(), 'X')).status).toBe(404)
  })
})

describe('a data deletion', () => {
  test('is answered with a code and a page, is done within a minute, and posts stay', async () => {
    const { post } = await graph.seed.owner().brand().post()
    const { id, brandId } = await connect(post.brandId)
    await graph.rows('update publishing.posts set connection_id = $2 where id = $1', [post.id, id])
    await graph.rows('insert into publishing.post_figures (brand_id, post_id, published_at, likes) values ($1, $2, $3, 3)', [
      brandId,
      post.id,
      graph.clock.now(),
    ])
    await graph.rows('insert into publishing.figure_snapshots (brand_id, post_id, at, likes) values ($1, $2, $3, 3)', [brandId, post.id, graph.clock.now()])
    const { status, body } = await send('DATA_DELETION', signed())
    expect({ status, body }).toEqual({
      status: 200,
      body: { url: `http://localhost:4000/publishing/data-deletion/${body.confirmation_code}`, confirmation_code: expect.stringMatching(/^[0-9a-f]{32}$/) },
    })
    const code = body.confirmation_code
    const receivedAt = graph.clock.now().toISOString()
    const told = { confirmationCode: code, platform: 'instagram', receivedAt }
    expect(JSON.parse((await statusOf(code)).text)).toEqual({ ...told, status: 'received', completedAt: null })
    expect(await present(id)).toMatchObject({ active: false, access_token: null })
    await graph.clock.advance(5000)
    await sweep.run()
    expect(await present(id)).toBeUndefined()
    expect(JSON.parse((await statusOf(code)).text)).toEqual({ ...told, status: 'completed', completedAt: graph.clock.now().toISOString() })
    expect(await toldOf(id)).toEqual(['attention.opened', 'attention.closed'])
    for (const table of ['post_figures', 'figure_snapshots'])
      expect(await graph.rows(`select from publishing.${table} where post_id = $1`, [post.id])).toEqual([])
    const page = await statusOf(code, 'text/html,application/xhtml+xml')
    expect(page).toMatchObject({ status: 200, type: expect.stringContaining('text/html') })
    expect(page.text).toContain('deleted')
    expect(page.text).not.toContain(accountId)
    expect(await graph.rows('select account_id from publishing.signed_requests where code = $1', [code])).toEqual([{ account_id: null }])
    expect(await graph.rows('select connection_id from publishing.posts where id = $1', [post.id])).toEqual([{ connection_id: null }])
    expect(
      (await graph.rows("select from publishing.audit_entries where action = 'connection.deleted' and subject_id = $1 and tenant_id = $2", [id, brandId]))
        .length,
    ).toBe(1)
  })

  test('that is repeated has the same answer, and keeps later connections', async () => {
    const { id: first } = await connect(brands[0]!.id)
    const request = signed()
    const answer = await send('DATA_DELETION', request)
    await sweep.run()
    expect(await present(first)).toBeUndefined()
    await graph.clock.advance(1000)
    const { id } = await connect(brands[0]!.id)
    expect(await send('DATA_DELETION', request)).toEqual(answer)
    await sweep.run()
    expect(await present(id)).toMatchObject({ active: true })
  })

  test('covers connections as of its signature, however late it arrives: neither later ones, nor the other address', async () => {
    const [one, two] = [await connect(brands[0]!.id), await connect(brands[1]!.id)]
    const request = signed()
    await send('DEAUTHORIZE', request)
    await graph.clock.advance(600_000)
    await connect(brands[0]!.id)
    expect(await send('DATA_DELETION', request)).toMatchObject({ status: 200, body: { confirmation_code: expect.any(String) } })
    await sweep.run()
    expect(await present(one.id)).toMatchObject({ active: true })
    expect(await present(two.id)).toBeUndefined()
  })

  test.each(['deletion-begun', 'in-deletion'])('is carried out by the next round, once, when a process ends at %s', async point => {
    const { id, brandId } = await connect(brands[0]!.id)
    const { confirmation_code: code } = (await send('DATA_DELETION', signed())).body
    await dies(point, () => sweep.run())
    expect(await present(id)).toMatchObject({ active: false, access_token: null })
    expect(JSON.parse((await statusOf(code)).text)).toMatchObject({ status: 'in_progress', completedAt: null })
    await sweep.run()
    await sweep.run()
    expect(await present(id)).toBeUndefined()
    expect(JSON.parse((await statusOf(code)).text)).toMatchObject({ status: 'completed' })
    const record = `select from publishing.audit_entries where action = 'connection.deleted' and subject_id = $1 and tenant_id = $2`
    expect(await graph.rows(record, [id, brandId])).toHaveLength(1)
    expect(await toldOf(id)).toEqual(['attention.opened', 'attention.closed'])
  })

  test('leaves an account that was connected anew before it was carried out', async () => {
    const { id } = await connect(brands[0]!.id)
    await send('DATA_DELETION', signed())
    await graph.clock.advance(1000)
    expect((await connect(brands[0]!.id)).id).toBe(id)
    await sweep.run()
    expect(await present(id)).toMatchObject({ active: true })
  })

  test('of an unknown account is answered alike', async () => {
    const answer = await send('DATA_DELETION', signed({ user_id: '17841499999999999' }))
    expect(answer).toMatchObject({ status: 200, body: { url: expect.any(String), confirmation_code: expect.any(String) } })
    await sweep.run()
    expect(JSON.parse((await statusOf(answer.body.confirmation_code)).text)).toMatchObject({ status: 'completed' })
    expect(await send('DEAUTHORIZE', signed({ user_id: '17841499999999999' }))).toEqual({ status: 200, body: {} })
  })

  test('waits for a running call, at most forty seconds', async () => {
    const { id, brandId } = await connect(brands[0]!.id)
    await graph.rows(
      `insert into publishing.attempts (brand_id, id, number, connection_id, copy, started_at, platform, external_account_id, created_at, updated_at, created_by)
       values ($1, $2, 1, $3, 'c', $4, 'INSTAGRAM', $5, $4, $4, 'delivery')`,
      [brandId, newId(), id, graph.clock.now(), accountId],
    )
    const { body } = await send('DATA_DELETION', signed())
    await sweep.run()
    expect(JSON.parse((await statusOf(body.confirmation_code)).text).status).toBe('in_progress')
    await graph.clock.advance(40_000)
    await sweep.run()
    expect(await present(id)).toBeUndefined()
  })

  test('has no page for an unknown code', async () => {
    expect(await statusOf('unknown0000')).toMatchObject({ status: 404, type: 'application/problem+json' })
    expect(await statusOf('0'.repeat(32), 'text/html')).toMatchObject({ status: 404, type: expect.stringContaining('text/html') })
  })
})

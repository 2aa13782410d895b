import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hashOfFile, type MetaName, type MetaStage, metaStage } from './stage.ts'

// The examples of Meta's documentation, by plain calls: what is ours has not been here before.

const secondsOf60Days = 5_184_000

const networks = [
  {
    name: 'threads' as const,
    scope: 'threads_basic,threads_content_publish',
    base: '/v1.0',
    grants: { exchange: 'th_exchange_token', refresh: 'th_refresh_token' },
    edges: { create: 'threads', publish: 'threads_publish', limit: 'threads_publishing_limit', list: 'threads' },
    status: 'status',
    text: 'text',
    image: { media_type: 'IMAGE' } as Record<string, string>,
    film: { media_type: 'VIDEO' },
    most: 250,
    post: /^https:\/\/www\.threads\.com\/@demo_brand\/post\/[\w-]+$/,
  },
  {
    name: 'instagram' as const,
    scope: 'instagram_business_basic,instagram_business_content_publish',
    base: '/v25.0',
    grants: { exchange: 'ig_exchange_token', refresh: 'ig_refresh_token' },
    edges: { create: 'media', publish: 'media_publish', limit: 'content_publishing_limit', list: 'media' },
    status: 'status_code',
    text: 'caption',
    image: {} as Record<string, string>,
    film: { media_type: 'REELS' },
    most: 100,
    post: /^https:\/\/www\.instagram\.com\/p\/[\w-]+\/$/,
  },
]

interface LoggedIn {
  readonly world: MetaStage
  readonly token: string
  readonly user: string
}

/** Follows the way of a login to its end. */
async function login(name: MetaName, scope: string, grant: string): Promise<LoggedIn> {
  const world = await metaStage(name, '/oauth/authorize')
  const { clientId, clientSecret, account } = world.sandbox.demo[name as 'threads']
  const location = await world.consent(scope)
  expect(location.hash).toBe('#_')
  const form = {
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'authorization_code',
    redirect_uri: world.redirectUri,
    code: location.searchParams.get('code')!,
  }
  const short = await world.post('/oauth/access_token', form)
  expect(short).toMatchObject({ status: 200, body: { access_token: expect.stringMatching(/^[A-Z]{4}/), user_id: expect.stringMatching(/^\d{14,17}$/) } })
  const long = await world.get('/access_token', { grant_type: grant, client_secret: clientSecret, access_token: short.body.access_token })
  expect(long).toMatchObject({ status: 200, body: { token_type: 'bearer', expires_in: secondsOf60Days } })
  return { world, token: long.body.access_token, user: account.id }
}

const refused = (code: number, status = 400) => ({
  status,
  body: { error: { message: expect.any(String), type: expect.any(String), code, fbtrace_id: expect.any(String) } },
})

describe.each(networks)('$name', ({ name, scope, base, grants, edges, status, text, image, film, most, post }) => {
  test('a code is exchanged for an hour, that for sixty days, and these after a day for sixty more', async () => {
    const { world, token } = await login(name, scope, grants.exchange)
    await using _ = world
    const refresh = (of: string) => world.get('/refresh_access_token', { grant_type: grants.refresh, access_token: of })
    expect(await refresh(token)).toMatchObject(refused(100))
    world.clock.advance(24 * 3_600_000)
    const next = await refresh(token)
    expect(next).toMatchObject({ status: 200, body: { expires_in: secondsOf60Days } })
    const me = (of: string) => world.get(`${base}/me`, { fields: 'id,username', access_token: of })
    expect(await me(next.body.access_token)).toMatchObject({ status: 200, body: { username: 'demo_brand' } })
    world.clock.advance(secondsOf60Days * 1000)
    expect(await me(next.body.access_token)).toMatchObject(refused(190, 401))
    expect(await refresh(next.body.access_token)).toMatchObject(refused(190, 401))
  })

  test('codes are valid once, for their application and address only; unknown scopes stay on a page', async () => {
    await using world = await metaStage(name, '/oauth/authorize')
    const { clientId, clientSecret } = world.sandbox.demo[name as 'threads']
    const code = async () => (await world.consent(scope)).searchParams.get('code')!
    const form = { client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code', redirect_uri: world.redirectUri }
    const take = (more: Record<string, string>) => world.post('/oauth/access_token', { ...form, ...more })
    const once = await code()
    expect((await take({ code: once })).status).toBe(200)
    expect(await take({ code: once })).toMatchObject(refused(100))
    expect(await take({ code: await code(), client_secret: 'no' })).toMatchObject(refused(1))
    expect(await take({ code: await code(), redirect_uri: `${world.redirectUri}/` })).toMatchObject(refused(100))
    await expect(world.consent('public_profile')).rejects.toThrow('400')
    const declined = await world.consent(scope, { sandbox_approve: '0' })
    expect(Object.fromEntries(declined.searchParams)).toEqual({ error: 'access_denied', state: 's' })
  })

  test('a picture becomes a container, which is finished, then public, and is listed', async () => {
    const { world, token, user } = await login(name, scope, grants.exchange)
    await using _ = world
    const made = await world.post(`${base}/${user}/${edges.create}`, {
      ...image,
      image_url: `${world.site}/a.jpg`,
      [text]: 'Hello & <b>',
      alt_text: 'A square',
      access_token: token,
    })
    expect(made).toMatchObject({ status: 200, body: { id: expect.stringMatching(/^\d{14,17}$/) } })
    const container = () => world.get(`${base}/${made.body.id}`, { fields: status, access_token: token })
    expect(await container()).toMatchObject({ status: 200, body: { id: made.body.id, [status]: 'FINISHED' } })
    expect(await world.received()).toEqual([])
    const published = await world.post(`${base}/${user}/${edges.publish}`, { creation_id: made.body.id, access_token: token })
    expect(published.status).toBe(200)
    const { id } = published.body
    expect(await world.get(`${base}/${id}`, { fields: 'id,permalink', access_token: token })).toMatchObject({
      status: 200,
      body: { id, permalink: expect.stringMatching(post) },
    })
    expect((await container()).body[status]).toBe('PUBLISHED')
    const { body: list } = await world.get(`${base}/${user}/${edges.list}`, { fields: `id,${text},timestamp`, since: '1772366400', access_token: token })
    expect(list.data).toEqual([{ id, [text]: 'Hello & <b>', timestamp: '2026-03-01T12:00:00+0000' }])
    expect(await world.received()).toMatchObject([
      {
        id,
        text: 'Hello & <b>',
        account: { username: 'demo_brand', id: user },
        inReplyToId: null,
        media: [{ mimeType: 'image/jpeg', sha256: hashOfFile('a.jpg'), bytes: 510 }],
      },
    ])
    expect((await world.post(`${base}/${user}/${edges.publish}`, { creation_id: made.body.id, access_token: token })).status, 'a second time').toBe(400)
    const limit = await world.get(`${base}/${user}/${edges.limit}`, { fields: 'quota_usage,config', access_token: token })
    expect(limit.body).toMatchObject({ data: [{ quota_usage: 1, config: { quota_total: most, quota_duration: 86_400 } }] })
  })

  test('several pictures and videos become one carousel', async () => {
    const { world, token, user } = await login(name, scope, grants.exchange)
    await using _ = world
    const create = async (parameters: Record<string, string>) =>
      (await world.post(`${base}/${user}/${edges.create}`, { ...parameters, access_token: token })).body.id as string
    const item = { is_carousel_item: 'true' }
    const children = [
      await create({ ...image, ...item, image_url: `${world.site}/a.jpg` }),
      await create({ ...item, media_type: 'VIDEO', video_url: `${world.site}/a.mp4` }),
      await create({ ...image, ...item, image_url: `${world.site}/b.jpg` }),
    ]
    const publish = (id: string) => world.post(`${base}/${user}/${edges.publish}`, { creation_id: id, access_token: token })
    expect((await publish(children[0]!)).status, 'an item alone').toBe(400)
    const whole = await create({ media_type: 'CAROUSEL', children: children.join(','), [text]: 'Three' })
    expect((await publish(whole)).status).toBe(200)
    const [{ media }] = await world.received()
    expect(media.map(({ mimeType }: { mimeType: string }) => mimeType)).toEqual(['image/jpeg', 'video/mp4', 'image/jpeg'])
    expect(await world.post(`${base}/${user}/${edges.create}`, { media_type: 'CAROUSEL', children: children[0]!, access_token: token })).toMatchObject(
      refused(100),
    )
  })

  test('rejects missing media: a picture at once, a video when it is processed', async () => {
    const { world, token, user } = await login(name, scope, grants.exchange)
    await using _ = world
    const create = (parameters: Record<string, string>) => world.post(`${base}/${user}/${edges.create}`, { ...parameters, access_token: token })
    for (const file of ['none.jpg', 'a.html']) expect((await create({ ...image, image_url: `${world.site}/${file}` })).status, file).toBe(400)
    const { body } = await create({ ...film, video_url: `${world.site}/a.jpg` })
    expect((await world.get(`${base}/${body.id}`, { fields: status, access_token: token })).body[status]).toBe('ERROR')
    expect((await world.post(`${base}/${user}/${edges.publish}`, { creation_id: body.id, access_token: token })).body.error.code).toBe(9007)
  })

  test('a call needs a token, its own account, the scope, and an existing path', async () => {
    const { world, token, user } = await login(name, scope, grants.exchange)
    await using _ = world
    expect(await world.get(`${base}/me`)).toMatchObject(refused(190, 401))
    expect(await world.get(`${base}/me`, { access_token: 'nobody' })).toMatchObject(refused(190, 401))
    expect(await world.post(`${base}/17841999999999999/${edges.publish}`, { creation_id: '1', access_token: token })).toMatchObject(refused(100))
    expect(await world.post(`${base}/${user}/${edges.publish}`, { creation_id: '1', access_token: token })).toMatchObject({ status: 400 })
    expect(await world.get(`${base}/${user}/nothing`, { access_token: token })).toMatchObject(refused(2500))
    expect(await world.get('/me', { access_token: token })).toMatchObject(refused(2500))
    const reading = await login(name, scope.split(',')[0]!, grants.exchange)
    await using __ = reading.world
    expect(await reading.world.post(`${base}/${reading.user}/${edges.create}`, { access_token: reading.token })).toMatchObject(refused(10, 403))
  })

  test('faults are shown where the network would: uploads, processing, the call that publishes, profiles, tokens', async () => {
    const { world, token, user } = await login(name, scope, grants.exchange)
    await using _ = world
    const create = () => world.post(`${base}/${user}/${edges.create}`, { ...image, image_url: `${world.site}/a.jpg`, [text]: 'Hello', access_token: token })
    const statusNow = async (id: string) => (await world.get(`${base}/${id}`, { fields: status, access_token: token })).body[status]
    const publish = (id: string) => world.post(`${base}/${user}/${edges.publish}`, { creation_id: id, access_token: token })
    await world.arm({ fault: 'media-status', status: 503 })
    expect((await create()).status).toBe(503)
    await world.arm({ fault: 'processing', delayMs: 5000 })
    const slow = (await create()).body.id
    expect(await statusNow(slow)).toBe('IN_PROGRESS')
    expect((await publish(slow)).body.error.code).toBe(9007)
    world.clock.advance(5000)
    expect(await statusNow(slow)).toBe('FINISHED')
    await world.arm({ fault: 'processing-error' })
    expect(await statusNow((await create()).body.id)).toBe('ERROR')
    await world.arm({ fault: 'status', status: 429, account: 'demo_brand' })
    expect(await publish(slow)).toMatchObject(refused(4, 429))
    expect(await statusNow(slow)).toBe('FINISHED')
    await world.arm({ fault: 'status-after-accept', status: 502 })
    expect((await publish(slow)).status).toBe(502)
    expect(await statusNow(slow)).toBe('PUBLISHED')
    expect(await world.received()).toHaveLength(1)
    await world.arm({ fault: 'profile-status', status: 500 })
    expect((await world.get(`${base}/me`, { access_token: token })).status).toBe(500)
    await world.arm({ fault: 'expired-token' })
    expect(await world.get(`${base}/me`, { access_token: token })).toMatchObject(refused(190, 401))
    expect((await world.get(`${base}/me`, { access_token: token })).status).toBe(200)
    await world.arm({ fault: 'grant-revoked' })
    for (const _call of [1, 2]) expect(await world.get(`${base}/me`, { access_token: token })).toMatchObject(refused(190, 401))
    world.clock.advance(24 * 3_600_000)
    expect((await world.get('/refresh_access_token', { grant_type: grants.refresh, access_token: token })).body.error.code).toBe(190)
  })

  test('the platform gets a signed notification when an account revokes access', async () => {
    const { world } = await login(name, scope, grants.exchange)
    await using _ = world
    const told = await world.emit({ event: 'deauthorize', account: 'demo_brand', signature: 'good' })
    expect(told).toMatchObject({ status: 200, body: { status: 200, body: { heard: true } } })
    expect(world.posted).toEqual([
      { path: `/publishing/api/callbacks/${name}/deauthorize`, body: new URLSearchParams({ signed_request: told.body.signedRequest }).toString() },
    ])
    const [signature, payload] = told.body.signedRequest.split('.')
    expect(signature).toBe(
      createHmac('sha256', world.sandbox.demo[name as 'threads'].clientSecret)
        .update(payload)
        .digest('base64url'),
    )
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
      algorithm: 'HMAC-SHA256',
      issued_at: 1_772_366_400,
      user_id: expect.stringMatching(/^\d{14,17}$/),
    })
    const bad = await world.emit({ event: 'data-deletion', account: 'demo_brand', signature: 'bad', ageSeconds: 60 })
    const [forged, older] = bad.body.signedRequest.split('.')
    expect(forged).not.toBe(
      createHmac('sha256', world.sandbox.demo[name as 'threads'].clientSecret)
        .update(older)
        .digest('base64url'),
    )
    expect(JSON.parse(Buffer.from(older, 'base64url').toString()).issued_at).toBe(1_772_366_340)
    for (const wrong of [
      { event: 'nothing', account: 'demo_brand' },
      { event: 'deauthorize', account: 'nobody' },
      { event: 'deauthorize', account: 'demo_brand', signature: 'so-so' },
    ])
      expect(await world.emit(wrong)).toMatchObject({ status: 400, body: { error: expect.any(String) } })
  })
})

test('Threads: a text alone, with a link or as a reply; listing replies needs a further permission', async () => {
  const { world, token, user } = await login('threads', networks[0]!.scope, 'th_exchange_token')
  await using _ = world
  const create = (parameters: Record<string, string>) => world.post(`/v1.0/${user}/threads`, { media_type: 'TEXT', ...parameters, access_token: token })
  const publish = async (id: string) => (await world.post(`/v1.0/${user}/threads_publish`, { creation_id: id, access_token: token })).body.id
  const head = await publish((await create({ text: 'Head', link_attachment: 'https://example.com' })).body.id)
  await publish((await create({ text: 'Reply', reply_to_id: head })).body.id)
  expect((await world.received()).map(({ text, inReplyToId }) => [text, inReplyToId])).toEqual([
    ['Head', null],
    ['Reply', head],
  ])
  expect((await world.received()).map(({ link }) => link)).toEqual(['https://example.com', undefined])
  const links = (count: number) => Array.from({ length: count }, (_, at) => `example.com/${at}`).join(' ')
  expect((await create({ text: links(5) })).status).toBe(200)
  expect(await create({ text: links(6) })).toMatchObject(refused(100))
  expect(await create({ text: links(5), link_attachment: 'https://example.com' })).toMatchObject(refused(100))
  expect(await create({ text: 'Head', link_attachment: 'example' })).toMatchObject(refused(100))
  expect((await world.get(`/v1.0/${user}/threads`, { access_token: token })).body.data).toHaveLength(1)
  expect(await world.get(`/v1.0/${user}/replies`, { access_token: token })).toMatchObject(refused(10, 403))
  expect(await create({ text: 'x'.repeat(501) })).toMatchObject(refused(100))
  expect(await create({ text: '👍'.repeat(126) })).toMatchObject(refused(100))
  expect((await create({ text: '👍'.repeat(125) })).status).toBe(200)
  expect(await create({ text: 'Reply', reply_to_id: '1' })).toMatchObject(refused(100))
  expect((await create({ media_type: 'IMAGE', image_url: `${world.site}/a.png` })).status, 'PNG').toBe(200)
})

test('Instagram: the version must be known, pictures are JPEG, and an account has a separate id for each application', async () => {
  const { world, token, user } = await login('instagram', networks[1]!.scope, 'ig_exchange_token')
  await using _ = world
  expect(await world.get('/v3.0/me', { access_token: token })).toMatchObject(refused(2635))
  const { body } = await world.get('/v25.0/me', { fields: 'id,user_id,username,profile_picture_url', access_token: token })
  expect(body).toMatchObject({ user_id: user, username: 'demo_brand' })
  expect(body.id).not.toBe(user)
  const create = (parameters: Record<string, string>) => world.post(`/v25.0/${user}/media`, { ...parameters, access_token: token })
  expect(await create({ image_url: `${world.site}/a.png` })).toMatchObject(refused(36_001))
  expect(await create({ caption: 'Text alone' })).toMatchObject(refused(100))
  expect(await create({ media_type: 'VIDEO', video_url: `${world.site}/a.mp4` })).toMatchObject(refused(100))
  expect(await create({ image_url: `${world.site}/a.jpg`, caption: 'x'.repeat(2201) })).toMatchObject(refused(36_004))
})

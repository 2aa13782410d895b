import { expect, test } from 'vitest'
import { hashOfFile, type MetaStage, metaStage } from './stage.ts'

// The examples of Facebook's documentation, by plain calls: what is ours has not been here before.

const scope = 'pages_show_list,pages_manage_posts,pages_read_engagement,pages_manage_engagement,business_management,publish_to_groups'
const refused = (code: number, status = 400) => ({ status, body: { error: { message: expect.any(String), code, fbtrace_id: expect.any(String) } } })

interface LoggedIn {
  readonly world: MetaStage
  readonly token: string
  readonly pages: readonly { readonly id: string; readonly name: string; readonly access_token: string }[]
  readonly group: { readonly id: string; readonly name: string }
}

/** Follows the way of a login to its end: a code, an hour, sixty days, the pages and the group. */
async function login(scopes = scope): Promise<LoggedIn> {
  const world = await metaStage('facebook', '/v25.0/dialog/oauth')
  const { clientId: client_id, clientSecret: client_secret } = world.sandbox.demo.facebook
  const code = (await world.consent(scopes)).searchParams.get('code')!
  const short = await world.get('/v25.0/oauth/access_token', { client_id, client_secret, redirect_uri: world.redirectUri, code })
  expect(short).toMatchObject({ status: 200, body: { token_type: 'bearer', expires_in: 3600 } })
  const long = await world.get('/v25.0/oauth/access_token', {
    grant_type: 'fb_exchange_token',
    client_id,
    client_secret,
    fb_exchange_token: short.body.access_token,
  })
  expect(long).toMatchObject({ status: 200, body: { token_type: 'bearer', expires_in: 5_184_000 } })
  const token = long.body.access_token
  const { body: pages } = await world.get('/v25.0/me/accounts', { fields: 'id,name,access_token,tasks', access_token: token })
  const { body: groups } = await world.get('/v25.0/me/groups', { admin_only: 'true', access_token: token })
  return { world, token, pages: pages.data, group: groups.data?.[0] }
}

test('a login has two pages with tokens of their own and one group, and permissions that it can grant and revoke', async () => {
  const { world, token, pages, group } = await login()
  await using _ = world
  expect(pages).toMatchObject([{ name: 'Demo Brand', tasks: expect.arrayContaining(['CREATE_CONTENT']) }, { name: 'Demo Brand Shop' }])
  expect(group).toMatchObject({ id: expect.stringMatching(/^\d+$/), name: 'Friends of Demo Brand' })
  expect((await world.get('/v25.0/me', { fields: 'id,name,picture.type(large)', access_token: token })).body).toMatchObject({
    name: 'Demo Brand',
    picture: { data: { url: expect.any(String) } },
  })
  expect((await world.get('/v25.0/me/permissions', { access_token: token })).body.data).toContainEqual({ permission: 'pages_manage_posts', status: 'granted' })
  world.clock.advance(61 * 86_400_000)
  expect(await world.get('/v25.0/me', { access_token: token })).toMatchObject(refused(190, 401))
  const [page] = pages
  expect((await world.post(`/v25.0/${page!.id}/feed`, { message: 'Pages go on', access_token: page!.access_token })).status).toBe(200)
})

test('revoked permissions end the tokens of pages as well', async () => {
  const { world, token, pages } = await login()
  await using _ = world
  expect(await world.post(`/v25.0/me/permissions?access_token=${token}`, {}, 'DELETE')).toMatchObject({ status: 200, body: { success: true } })
  expect(await world.get('/v25.0/me', { access_token: token })).toMatchObject(refused(190, 401))
  expect(await world.post(`/v25.0/${pages[0]!.id}/feed`, { message: 'No', access_token: pages[0]!.access_token })).toMatchObject(refused(190, 401))
})

test('a page accepts posts by its own token: a text, a link, uploaded pictures, a video; and comments under them', async () => {
  const { world, pages } = await login()
  await using _ = world
  const [page] = pages
  const access_token = page!.access_token
  const text = await world.post(`/v25.0/${page!.id}/feed`, { message: 'Text & <b>', link: 'https://example.com', access_token })
  expect(text).toMatchObject({ status: 200, body: { id: expect.stringMatching(new RegExp(`^${page!.id}_\\d+$`)) } })
  const photo = async (file: string) =>
    (await world.post(`/v25.0/${page!.id}/photos`, { url: `${world.site}/${file}`, published: 'false', access_token })).body.id
  const attached = {
    'attached_media[0]': JSON.stringify({ media_fbid: await photo('a.jpg') }),
    'attached_media[1]': JSON.stringify({ media_fbid: await photo('a.png') }),
  }
  expect(await world.received()).toHaveLength(1)
  await world.post(`/v25.0/${page!.id}/feed`, { message: 'Pictures', ...attached, access_token })
  const film = await world.post(`/v25.0/${page!.id}/videos`, { file_url: `${world.site}/a.mp4`, description: 'Film', access_token })
  expect(film).toMatchObject({ status: 200, body: { id: expect.stringMatching(/^\d+$/) } })
  const comment = await world.post(`/v25.0/${text.body.id}/comments`, { message: 'First', access_token })
  expect(await world.received()).toMatchObject([
    { id: text.body.id, text: 'Text & <b>', target: { kind: 'page', id: page!.id }, account: { username: 'demo_brand' }, inReplyToId: null },
    { text: 'Pictures', media: [{ mimeType: 'image/jpeg', sha256: hashOfFile('a.jpg') }, { mimeType: 'image/png' }] },
    { id: film.body.id, text: 'Film', media: [{ mimeType: 'video/mp4', sha256: hashOfFile('a.mp4') }] },
    { id: comment.body.id, text: 'First', inReplyToId: text.body.id },
  ])
  const list = await world.get(`/v25.0/${page!.id}/published_posts`, { fields: 'id,message,created_time,permalink_url', access_token })
  expect(list.body.data).toMatchObject([
    { message: 'Pictures' },
    { id: text.body.id, created_time: '2026-03-01T12:00:00+0000', permalink_url: expect.stringMatching(/^https:\/\/www\.facebook\.com\//) },
  ])
  expect((await world.get(`/v25.0/${page!.id}/videos`, { fields: 'id,description', access_token })).body.data).toEqual([
    { id: film.body.id, description: 'Film' },
  ])
})

test('a call needs the right token, scope, place and version; a text is rejected when repeated at once', async () => {
  const { world, token, pages, group } = await login()
  await using _ = world
  const [page, shop] = pages
  const feed = (id: string, access_token: string, message = 'Hello') => world.post(`/v25.0/${id}/feed`, { message, access_token })
  expect(await feed(page!.id, token)).toMatchObject(refused(200, 403))
  expect(await feed(page!.id, shop!.access_token)).toMatchObject(refused(200, 403))
  expect(await feed('119999999999', page!.access_token)).toMatchObject(refused(100))
  expect(await feed(page!.id, page!.access_token, '')).toMatchObject(refused(100))
  expect(await world.post(`/v3.0/${page!.id}/feed`, { message: 'Old', access_token: page!.access_token })).toMatchObject(refused(2635))
  expect((await feed(page!.id, page!.access_token)).status).toBe(200)
  expect(await feed(page!.id, page!.access_token)).toMatchObject(refused(506))
  expect((await feed(group.id, token)).status).toBe(200)
  expect(await world.get(`/v25.0/${page!.id}_1/insights`, { metric: 'post_impressions', access_token: page!.access_token })).toMatchObject(refused(10, 403))
  expect(await world.post(`/v25.0/${page!.id}/photos`, { url: `${world.site}/a.html`, published: 'false', access_token: page!.access_token })).toMatchObject(
    refused(324),
  )
  expect(await world.post(`/v25.0/${page!.id}/videos`, { file_url: `${world.site}/a.jpg`, access_token: page!.access_token })).toMatchObject(refused(389))
  const less = await login('pages_show_list,pages_read_engagement')
  await using __ = less.world
  expect(less.group).toBeUndefined()
  expect(await less.world.post(`/v25.0/${less.pages[0]!.id}/feed`, { message: 'No', access_token: less.pages[0]!.access_token })).toMatchObject(
    refused(10, 403),
  )
})

test('faults have the network’s format, and the platform is notified when an account revokes access', async () => {
  const { world, token, pages } = await login()
  await using _ = world
  const [{ id, access_token }] = pages as [LoggedIn['pages'][number]]
  const feed = (message: string) => world.post(`/v25.0/${id}/feed`, { message, access_token })
  await world.arm({ fault: 'media-status', status: 500, account: 'demo_brand' })
  expect((await world.post(`/v25.0/${id}/photos`, { url: `${world.site}/a.jpg`, published: 'false', access_token })).status).toBe(500)
  await world.arm({ fault: 'status', status: 429 })
  expect(await feed('One')).toMatchObject(refused(4, 429))
  await world.arm({ fault: 'status-after-accept', status: 503 })
  expect((await feed('Two')).status).toBe(503)
  expect((await world.received()).map(({ text }) => text)).toEqual(['Two'])
  await world.arm({ fault: 'expired-token' })
  expect(await feed('Three')).toMatchObject(refused(190, 401))
  expect(await world.emit({ event: 'deauthorize', account: 'demo_brand' })).toMatchObject({ status: 200, body: { status: 200 } })
  expect(world.posted[0]!.path).toBe('/publishing/api/callbacks/facebook/deauthorize')
  await world.arm({ fault: 'grant-revoked' })
  expect(await feed('Four')).toMatchObject(refused(190, 401))
  expect(await world.get('/v25.0/me', { access_token: token })).toMatchObject(refused(190, 401))
})

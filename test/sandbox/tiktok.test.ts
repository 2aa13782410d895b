import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Answer, callback, type Stage, send, stage } from './stage.ts'

// Requests and answers as TikTok's documentation prints them, with the page of each.

const verifier = 'a-verifier-of-more-than-forty-three-characters-0'

/** https://developers.tiktok.com/doc/login-kit-desktop: the digest in hexadecimal digits. */
function consent({ sandbox }: Stage, changes: Record<string, string> = {}): Promise<Answer> {
  const address = new URL(`${sandbox.origin}/tiktok/v2/auth/authorize/`)
  const parameters = {
    client_key: sandbox.demo.tiktok.clientId,
    scope: 'user.info.basic,video.upload,video.publish',
    response_type: 'code',
    redirect_uri: callback,
    state: 'a-state',
    code_challenge: createHash('sha256').update(verifier).digest('hex'),
    code_challenge_method: 'S256',
    sandbox_approve: '1',
    ...changes,
  }
  for (const [key, value] of Object.entries(parameters)) address.searchParams.set(key, value)
  return send(address.href)
}

/** https://developers.tiktok.com/doc/oauth-user-access-token-management */
const form = ({ sandbox }: Stage, path: string, fields: Record<string, string>): Promise<Answer> =>
  send(`${sandbox.origin}/tiktok/v2/oauth/${path}/`, {
    method: 'POST',
    body: new URLSearchParams({ client_key: sandbox.demo.tiktok.clientId, client_secret: sandbox.demo.tiktok.clientSecret, ...fields }),
  })

async function login(world: Stage): Promise<Answer['body']> {
  const code = new URL((await consent(world)).headers.get('location')!).searchParams.get('code')!
  return (await form(world, 'token', { code, grant_type: 'authorization_code', redirect_uri: callback, code_verifier: verifier })).body
}

const call = ({ sandbox }: Stage, token: string, method: string, path: string, body?: object): Promise<Answer> =>
  send(`${sandbox.origin}/tiktok${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json; charset=UTF-8' }) },
    ...(body && { body: JSON.stringify(body) }),
  })

const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=tiktok`)).body

const film = Buffer.alloc(11_000_000, 'film')

/** https://developers.tiktok.com/doc/content-posting-api-reference-direct-post */
const init = (world: Stage, token: string, { level = 'SELF_ONLY', size = film.length, chunk = 5_000_000, count = 2 } = {}) =>
  call(world, token, 'POST', '/v2/post/publish/video/init/', {
    post_info: { title: 'this will be a funny #cat video', privacy_level: level, disable_duet: false, disable_comment: true, disable_stitch: false },
    source_info: { source: 'FILE_UPLOAD', video_size: size, chunk_size: chunk, total_chunk_count: count },
  })

const put = (url: string, from: number, to: number) =>
  send(url, {
    method: 'PUT',
    headers: { 'content-type': 'video/mp4', 'content-range': `bytes ${from}-${to - 1}/${film.length}` },
    body: film.subarray(from, to),
  })

test('a login with a hex digest gives a day of access and a rotating refresh token; errors have status 200', async () => {
  await using world = await stage()
  const grant = await login(world)
  expect(grant).toMatchObject({
    access_token: expect.stringMatching(/^act\./),
    refresh_token: expect.stringMatching(/^rft\./),
    expires_in: 86_400,
    refresh_expires_in: 31_536_000,
    open_id: expect.any(String),
    scope: 'user.info.basic,video.upload,video.publish',
    token_type: 'Bearer',
  })
  const renewed = await form(world, 'token', { grant_type: 'refresh_token', refresh_token: grant.refresh_token })
  expect(renewed.body.refresh_token).not.toBe(grant.refresh_token)
  const again = await form(world, 'token', { grant_type: 'refresh_token', refresh_token: grant.refresh_token })
  expect([again.status, again.body]).toMatchObject([200, { error: 'invalid_grant', log_id: expect.any(String) }])
  const base64url = createHash('sha256').update(verifier).digest('base64url')
  expect((await consent(world, { code_challenge: base64url })).status).toBe(400)
  const user = await login(world)
  const info = await call(world, user.access_token, 'GET', '/v2/user/info/?fields=open_id,union_id,avatar_url,display_name')
  expect(info.body).toMatchObject({ data: { user: { open_id: user.open_id, display_name: 'Demo Brand' } }, error: { code: 'ok' } })
  expect((await form(world, 'revoke', { token: user.access_token })).status).toBe(200)
  expect((await call(world, user.access_token, 'GET', '/v2/user/info/?fields=open_id')).body.error.code).toBe('access_token_invalid')
})

test('a film is published by the last of its chunks, and found by the id of its upload', async () => {
  await using world = await stage()
  const { access_token: token } = await login(world)
  const creator = await call(world, token, 'POST', '/v2/post/publish/creator_info/query/', {})
  expect(creator.body.data).toMatchObject({
    creator_username: 'demo_brand',
    privacy_level_options: expect.arrayContaining(['SELF_ONLY']),
    max_video_post_duration_sec: 600,
  })
  expect((await init(world, token, { level: 'PUBLIC_TO_EVERYONE' })).body.error.code).toBe('unaudited_client_can_only_post_to_private_accounts')
  expect((await init(world, token, { count: 3 })).body.error.code).toBe('invalid_params')
  const { publish_id: id, upload_url: url } = (await init(world, token)).body.data
  const status = async () => (await call(world, token, 'POST', '/v2/post/publish/status/fetch/', { publish_id: id })).body.data
  expect((await put(url, 5_000_000, film.length)).status).toBe(416)
  expect((await put(url, 0, 5_000_000)).status).toBe(206)
  expect([await status(), await received(world)]).toMatchObject([{ status: 'PROCESSING_UPLOAD', uploaded_bytes: 5_000_000 }, []])
  expect((await put(url, 5_000_000, film.length)).status).toBe(201)
  expect(await status()).toMatchObject({ status: 'PUBLISH_COMPLETE', publicaly_available_post_id: [] })
  const sha256 = createHash('sha256').update(film).digest('hex')
  expect(await received(world)).toMatchObject([
    { id, text: 'this will be a funny #cat video', privacyStatus: 'private', media: [{ mimeType: 'video/mp4', bytes: film.length, sha256 }] },
  ])
  expect((await put(url, 5_000_000, film.length)).status).toBe(403)
  for (let begun = 2; begun <= 6; begun += 1) await init(world, token)
  expect((await init(world, token)).body.error.code).toBe('rate_limit_exceeded')
})

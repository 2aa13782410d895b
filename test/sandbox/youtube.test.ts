import { Readable } from 'node:stream'
import { auth, youtube_v3 } from '@googleapis/youtube'
import { describe, expect, test } from 'vitest'
import { callback, type Stage, send, stage } from './stage.ts'

const control = ({ sandbox }: Stage, path: string, body: object) =>
  send(`${sandbox.origin}/_control/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ network: 'youtube', ...body }),
  })
const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=youtube`)).body as unknown as Record<string, unknown>[]
const tokenOf = async (world: Stage) => ((await control(world, 'tokens', {})).body as unknown as { token: string }).token

/** The official client; each call takes where its root is, for the twin stands below a path. */
async function clientOf(world: Stage, token?: string) {
  const client = new auth.OAuth2()
  client.setCredentials({ access_token: token ?? (await tokenOf(world)) })
  return new youtube_v3.Youtube({ auth: client })
}
const at = ({ sandbox }: Stage) => ({ rootUrl: `${sandbox.origin}/youtube/` })
const film = (title: string) => ({ snippet: { title }, status: { privacyStatus: 'private' } })
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    error => [error.status ?? error.code, error.response?.data?.error?.errors?.[0]?.reason],
  )

describe('the official client of YouTube', () => {
  test('reads its channel, uploads a video in one call, finds, changes and removes it', async () => {
    await using world = await stage()
    const youtube = await clientOf(world)
    const { data: channels } = await youtube.channels.list({ part: ['id', 'snippet'], mine: true }, at(world))
    expect(channels.items).toMatchObject([{ kind: 'youtube#channel', snippet: { title: 'Demo' } }])
    const media = { mimeType: 'video/mp4', body: Readable.from([Buffer.alloc(300_000, 1), Buffer.alloc(200_000, 2)]) }
    const { data: made } = await youtube.videos.insert({ part: ['snippet', 'status'], requestBody: film('A film'), media }, at(world))
    expect(made).toMatchObject({ kind: 'youtube#video', snippet: { title: 'A film' }, status: { privacyStatus: 'private' } })
    expect(await received(world)).toMatchObject([{ id: made.id, text: 'A film', privacyStatus: 'private', bytes: 500_000 }])
    const { data: found } = await youtube.search.list({ part: ['snippet'], q: 'film', type: ['video'] }, at(world))
    expect(found.items?.map(({ id }) => id?.videoId)).toEqual([made.id])
    await youtube.videos.update(
      { part: ['snippet', 'status'], requestBody: { id: made.id!, ...film('Another'), status: { privacyStatus: 'public' } } },
      at(world),
    )
    const { data: listed } = await youtube.videos.list({ part: ['snippet', 'status'], id: [made.id!] }, at(world))
    expect(listed.items).toMatchObject([{ snippet: { title: 'Another' }, status: { privacyStatus: 'public' } }])
    await youtube.videos.delete({ id: made.id! }, at(world))
    expect((await youtube.videos.list({ part: ['id'], id: [made.id!] }, at(world))).data.items).toEqual([])
  })

  test('gets YouTube’s error reasons', async () => {
    await using world = await stage()
    const youtube = await clientOf(world)
    expect(await reasonOf((await clientOf(world, 'ya29.nobody')).channels.list({ part: ['id'], mine: true }, at(world)))).toEqual([401, 'authError'])
    expect(await reasonOf(youtube.channels.list({ part: ['id'] }, at(world)))).toEqual([400, 'missingRequiredParameter'])
    for (const [status, reason] of [
      [403, 'quotaExceeded'],
      [400, 'badRequest'],
    ] as const) {
      await control(world, 'faults', { fault: 'status', status, times: 1 })
      expect(await reasonOf(youtube.channels.list({ part: ['id'], mine: true }, at(world)))).toEqual([status, reason])
    }
    expect((await youtube.channels.list({ part: ['id'], mine: true }, at(world))).status).toBe(200)
  })
})

describe('the official client of Google', () => {
  const google = ({ sandbox: { origin, demo } }: Stage, secret = demo.youtube.clientSecret) =>
    new auth.OAuth2({
      ...{ clientId: demo.youtube.clientId, clientSecret: secret, redirectUri: callback },
      endpoints: {
        oauth2AuthBaseUrl: `${origin}/youtube/o/oauth2/v2/auth`,
        oauth2TokenUrl: `${origin}/youtube/token`,
        oauth2RevokeUrl: `${origin}/youtube/revoke`,
      },
    })
  const reads = 'https://www.googleapis.com/auth/youtube.readonly'
  const codeOf = async (url: string) =>
    new URL((await send(`${url}&sandbox_approve=1&sandbox_account=anna_1`)).headers.get('location')!).searchParams.get('code')!
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.unreachable(),
      error => [error.status, error.response?.data?.error],
    )

  test('consents as an account of its own channel, renews without another refresh token, and revokes all of it', async () => {
    await using world = await stage()
    const client = google(world)
    const { tokens } = await client.getToken(await codeOf(client.generateAuthUrl({ access_type: 'offline', prompt: 'consent', scope: [reads], state: 'a' })))
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: reads, refresh_token: expect.stringMatching(/^1\/\//) })
    client.setCredentials(tokens)
    const youtube = new youtube_v3.Youtube({ auth: client })
    const mine = async () => (await youtube.channels.list({ part: ['id', 'snippet'], mine: true }, at(world))).data.items
    expect(await mine()).toMatchObject([{ id: expect.stringMatching(/^UC.{22}$/), snippet: { title: 'anna_1', customUrl: '@anna_1' } }])
    expect(await reasonOf(youtube.videos.delete({ id: 'a' }, at(world)))).toEqual([403, 'insufficientPermissions'])
    const { credentials } = await client.refreshAccessToken()
    expect([credentials.refresh_token, credentials.access_token === tokens.access_token]).toEqual([tokens.refresh_token, false])
    expect(await mine()).toHaveLength(1)
    expect((await client.revokeToken(credentials.access_token!)).status).toBe(200)
    expect(await errorOf(google(world).revokeToken('none'))).toEqual([400, 'invalid_token'])
    client.setCredentials({ refresh_token: tokens.refresh_token! })
    expect(await errorOf(client.refreshAccessToken())).toEqual([400, 'invalid_grant'])
  })

  test('has no refresh token without offline access, and no token with a wrong secret or a code that was used', async () => {
    await using world = await stage()
    const client = google(world)
    const code = await codeOf(client.generateAuthUrl({ scope: [reads], state: 'a' }))
    expect(await errorOf(google(world, 'wrong').getToken(code))).toEqual([401, 'invalid_client'])
    expect((await client.getToken(code)).tokens.refresh_token).toBeUndefined()
    expect(await errorOf(client.getToken(code))).toEqual([400, 'invalid_grant'])
  })
})

describe('an upload in parts', () => {
  const unit = 256 * 1024
  async function begin(world: Stage, total: number) {
    const authorization = `Bearer ${await tokenOf(world)}`
    const opened = await fetch(`${world.sandbox.origin}/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'x-upload-content-length': String(total), 'x-upload-content-type': 'video/mp4' },
      body: JSON.stringify(film('In parts')),
    })
    const session = opened.headers.get('location')!
    const put = async (range: string | null, bytes: number) => {
      const answer = await fetch(session, { method: 'PUT', headers: { authorization, ...(range && { 'content-range': range }) }, body: Buffer.alloc(bytes) })
      return [answer.status, answer.headers.get('range'), (await answer.text()) !== '']
    }
    return { opened, session, put }
  }

  test.each([
    ['a title with <', { title: 'a < b' }, 'invalidTitle'],
    ['a title of 101 characters', { title: 'a'.repeat(101) }, 'invalidTitle'],
    ['a description of 5,001 bytes', { description: `${'é'.repeat(2_500)}a` }, 'invalidDescription'],
    ['tags of 501 characters with their commas', { tags: [...Array<string>(9).fill('t'.repeat(50)), 't'.repeat(42)] }, 'invalidTags'],
    ['tags of 500 characters whose quotes come on top', { tags: [...Array<string>(9).fill('t'.repeat(50)), `${'t'.repeat(39)} t`] }, 'invalidTags'],
    ['tags that are no texts', { tags: [1] }, 'invalidTags'],
  ])('is not begun with %s', async (_, snippet, reason) => {
    await using world = await stage()
    const youtube = await clientOf(world)
    const media = { mimeType: 'video/mp4', body: Readable.from([Buffer.alloc(1_000)]) }
    const requestBody = { snippet: { title: 'A film', ...snippet }, status: { privacyStatus: 'private' } } as object
    expect(await reasonOf(youtube.videos.insert({ part: ['snippet', 'status'], requestBody, media }, at(world)))).toEqual([400, reason])
    const { body } = await send(`${world.sandbox.origin}/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenOf(world)}`, 'content-type': 'application/json' },
      body: JSON.stringify(requestBody),
    })
    expect(body.error.errors[0].reason).toBe(reason)
  })

  test('keeps its tags up to the maximum', async () => {
    await using world = await stage()
    const youtube = await clientOf(world)
    const tags = [...Array<string>(9).fill('t'.repeat(50)), 't'.repeat(41)]
    const media = { mimeType: 'video/mp4', body: Readable.from([Buffer.alloc(1_000)]) }
    await youtube.videos.insert({ part: ['snippet', 'status'], requestBody: { snippet: { title: 'A film', tags } }, media }, at(world))
    expect(await received(world)).toMatchObject([{ title: 'A film', tags }])
  })

  test('continues an upload, reports its position, and creates one film, however often its end is sent', async () => {
    await using world = await stage()
    const total = 2 * unit + 100
    const { opened, session, put } = await begin(world, total)
    expect([opened.status, new URL(session).pathname]).toEqual([200, '/youtube/upload/youtube/v3/videos'])
    expect(await put(`bytes */${total}`, 0)).toEqual([308, null, false])
    expect(await put(`bytes 0-${unit - 1}/${total}`, unit)).toEqual([308, `bytes=0-${unit - 1}`, false])
    expect(await put(`bytes ${2 * unit}-${total - 1}/${total}`, 100)).toEqual([308, `bytes=0-${unit - 1}`, false])
    expect(await put(`bytes ${unit}-${unit + 9}/${total}`, 10)).toEqual([400, null, true])
    expect(await put(`bytes ${unit}-${2 * unit - 1}/${total}`, unit)).toEqual([308, `bytes=0-${2 * unit - 1}`, false])
    expect(await put(`bytes ${2 * unit}-${total - 1}/${total}`, 100)).toEqual([200, null, true])
    expect(await put(`bytes ${2 * unit}-${total - 1}/${total}`, 100)).toEqual([200, null, true])
    expect(await received(world)).toMatchObject([{ text: 'In parts', privacyStatus: 'private', bytes: total }])
  })

  test('may be sent whole, and does not exist without its session', async () => {
    await using world = await stage()
    const { put, session } = await begin(world, 1000)
    expect(await put(null, 1000)).toEqual([200, null, true])
    const elsewhere = await fetch(session.replace(/upload_id=.*/, 'upload_id=none'), {
      method: 'PUT',
      headers: { authorization: `Bearer ${await tokenOf(world)}` },
    })
    expect(elsewhere.status).toBe(404)
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Answer, callback, type Stage, send, stage } from './stage.ts'

// Requests and answers as LinkedIn's documentation prints them, with the page of each.

type Name = 'linkedin' | 'linkedin-page'

const scopesOf: Readonly<Record<Name, string>> = {
  linkedin: 'openid profile email w_member_social',
  'linkedin-page': 'r_basicprofile w_organization_social r_organization_social rw_organization_admin',
}

/** https://learn.microsoft.com/linkedin/shared/authentication/authorization-code-flow */
async function consent({ sandbox }: Stage, name: Name, changes: Record<string, string> = {}): Promise<Answer> {
  const address = new URL(`${sandbox.origin}/linkedin/oauth/v2/authorization`)
  const parameters = {
    response_type: 'code',
    client_id: sandbox.demo[name].clientId,
    redirect_uri: callback,
    state: 'foobar',
    scope: scopesOf[name],
    sandbox_approve: '1',
    ...changes,
  }
  for (const [key, value] of Object.entries(parameters)) address.searchParams.set(key, value)
  return send(address.href)
}

const form = ({ sandbox }: Stage, name: Name, path: string, fields: Record<string, string>): Promise<Answer> => {
  const { clientId, clientSecret } = sandbox.demo[name]
  const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...fields })
  return send(`${sandbox.origin}/linkedin/oauth/v2/${path}`, { method: 'POST', body })
}

async function login(world: Stage, name: Name, changes: Record<string, string> = {}): Promise<Answer> {
  const back = new URL((await consent(world, name, changes)).headers.get('location')!)
  return form(world, name, 'accessToken', { grant_type: 'authorization_code', code: back.searchParams.get('code')!, redirect_uri: callback })
}

const tokenOf = async (world: Stage, name: Name): Promise<string> => (await login(world, name)).body.access_token

const rest = ({ sandbox }: Stage, token: string, method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> =>
  send(path.startsWith('http') ? path : `${sandbox.origin}/linkedin${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'linkedin-version': '202610',
      'x-restli-protocol-version': '2.0.0',
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })

const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=linkedin`)).body
const arm = ({ sandbox }: Stage, fault: object) =>
  send(`${sandbox.origin}/_control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ network: 'linkedin', ...fault }),
  })

/** https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api#create-organic-posts */
const organic = (author: string, commentary: string, more: object = {}) => ({
  author,
  commentary,
  visibility: 'PUBLIC',
  distribution: { feedDistribution: 'MAIN_FEED', targetEntities: [], thirdPartyDistributionChannels: [] },
  lifecycleState: 'PUBLISHED',
  isReshareDisabledByAuthor: false,
  ...more,
})

async function person(world: Stage) {
  const token = await tokenOf(world, 'linkedin')
  return { token, author: `urn:li:person:${(await rest(world, token, 'GET', '/v2/userinfo')).body.sub}` }
}

async function page(world: Stage) {
  const token = await tokenOf(world, 'linkedin-page')
  const roles = await rest(world, token, 'GET', '/rest/organizationAcls?q=roleAssignee&role=ADMINISTRATOR&state=APPROVED')
  return { token, roles: roles.body, author: roles.body.elements[0].organization as string }
}

const jpeg = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(2000, 7)])
const shaOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('the authorization server of LinkedIn', () => {
  test('gives a person 60 days without renewal, and an application for pages a year, counted from the first login', async () => {
    await using world = await stage()
    const own = await login(world, 'linkedin')
    expect(own).toMatchObject({ status: 200, body: { expires_in: 5_184_000, scope: 'openid,profile,email,w_member_social', id_token: expect.any(String) } })
    expect(own.body).not.toHaveProperty('refresh_token')
    expect(own.body).not.toHaveProperty('token_type')
    const first = await login(world, 'linkedin-page')
    expect(first.body).toMatchObject({ expires_in: 5_184_000, refresh_token: expect.any(String), refresh_token_expires_in: 31_536_000 })
    await world.clock.advance(50 * 86_400_000)
    const renewed = await form(world, 'linkedin-page', 'accessToken', { grant_type: 'refresh_token', refresh_token: first.body.refresh_token })
    expect(renewed.body).toMatchObject({ refresh_token: first.body.refresh_token, refresh_token_expires_in: 31_536_000 - 50 * 86_400 })
    expect((await rest(world, first.body.access_token, 'GET', '/v2/me')).status).toBe(401)
    expect((await rest(world, renewed.body.access_token, 'GET', '/v2/me')).status).toBe(200)
    await world.clock.advance(320 * 86_400_000)
    const late = await form(world, 'linkedin-page', 'accessToken', { grant_type: 'refresh_token', refresh_token: first.body.refresh_token })
    expect([late.status, late.body.error]).toEqual([400, 'invalid_request'])
  })

  test('accepts the scopes that an application was granted, and no others', async () => {
    await using world = await stage()
    expect((await consent(world, 'linkedin', { scope: scopesOf['linkedin-page'] })).status).toBe(400)
    expect((await consent(world, 'linkedin-page', { scope: 'w_member_social' })).status).toBe(400)
    expect((await consent(world, 'linkedin')).status).toBe(302)
  })

  test('revokes access, and rejects a wrong secret, a used code and another redirect address', async () => {
    await using world = await stage()
    const token = await tokenOf(world, 'linkedin')
    expect((await form(world, 'linkedin', 'revoke', { token })).status).toBe(200)
    expect((await rest(world, token, 'GET', '/v2/userinfo')).body).toMatchObject({ code: 'INVALID_ACCESS_TOKEN', serviceErrorCode: 65600 })
    const code = new URL((await consent(world, 'linkedin')).headers.get('location')!).searchParams.get('code')!
    const exchange = (changes: Record<string, string>) =>
      form(world, 'linkedin', 'accessToken', { grant_type: 'authorization_code', code, redirect_uri: callback, ...changes })
    expect((await exchange({ client_secret: 'wrong' })).body.error).toBe('invalid_client')
    expect((await exchange({})).status).toBe(200)
    expect((await exchange({})).status).toBe(400)
  })

  test('has two organizations for each consenting person, named after the account', async () => {
    await using world = await stage()
    const { roles, token } = await page(world)
    expect(roles.elements).toMatchObject([{ role: 'ADMINISTRATOR', state: 'APPROVED' }, { role: 'ADMINISTRATOR' }])
    const ids = roles.elements.map(({ organization }: { organization: string }) => organization.split(':').at(-1))
    const found = await rest(world, token, 'GET', `/rest/organizations?ids=List(${ids.join(',')})`)
    expect(Object.values(found.body.results)).toMatchObject([{ localizedName: 'Demo Brand' }, { localizedName: 'Demo Brand Careers' }])
    const other = (await login(world, 'linkedin-page', { sandbox_account: 'ada_1' })).body.access_token
    expect((await rest(world, other, 'GET', '/v2/me')).body).toMatchObject({ localizedFirstName: 'ada_1' })
    const theirs = await rest(world, other, 'GET', '/rest/organizationAcls?q=roleAssignee')
    expect(theirs.body.elements).toHaveLength(2)
    expect(theirs.body.elements[0].organization).not.toBe(roles.elements[0].organization)
  })
})

describe('posts of LinkedIn', () => {
  test('a text: 201 without a body, the URN in x-restli-id, as a reader sees it', async () => {
    await using world = await stage()
    const { token, author } = await person(world)
    const written = 'Sample \\(text\\) \\| \\{x\\} \\@me \\[k\\] \\<b\\> {hashtag|\\#|Go} \\# \\* \\_ \\~ \\\\ end'
    const made = await rest(world, token, 'POST', '/rest/posts', organic(author, written))
    expect([made.status, made.body]).toEqual([201, ''])
    const id = made.headers.get('x-restli-id')
    expect(id).toMatch(/^urn:li:share:\d{19}$/)
    expect(await received(world)).toMatchObject([{ id, text: 'Sample (text) | {x} @me [k] <b> #Go # * _ ~ \\ end', inReplyToId: null, media: [] }])
    expect((await received(world))[0]).not.toHaveProperty('target')
    await rest(world, token, 'POST', '/rest/posts', organic(author, 'It ends (here'))
    expect((await received(world))[1].text).toBe('It ends ')
  })

  test('are rejected without a version, in an ended one, without the protocol, for another author, twice, and without the scope', async () => {
    await using world = await stage()
    const { token, author } = await person(world)
    const { author: organization } = await page(world)
    const post = (body: object, headers: Record<string, string> = {}) => rest(world, token, 'POST', '/rest/posts', body, headers)
    expect((await post(organic(author, 'a'), { 'linkedin-version': '' })).status).toBe(400)
    const ended = await post(organic(author, 'a'), { 'linkedin-version': '202409' })
    expect([ended.status, ended.body]).toMatchObject([426, { code: 'NONEXISTENT_VERSION', message: 'Requested version 202409 is not active' }])
    expect((await post(organic(author, 'a'), { 'x-restli-protocol-version': '1.0.0' })).status).toBe(400)
    expect((await post(organic(organization, 'a'))).body).toMatchObject({ status: 403, serviceErrorCode: 100 })
    const { visibility: _, ...without } = organic(author, 'a')
    expect((await post(without)).body.message).toContain('/visibility')
    expect((await post(organic(author, 'x'.repeat(3001)))).status).toBe(400)
    const made = await post(organic(author, 'Again'))
    const again = await post(organic(author, 'Again'))
    expect([again.status, again.body.message]).toEqual([422, `Content is a duplicate of ${made.headers.get('x-restli-id')}`])
    const listed = await rest(world, token, 'GET', `/rest/posts?author=${encodeURIComponent(author)}&q=author`)
    expect(listed.status).toBe(403)
  })

  test('of an organization are listed newest first, commented by it, and counted', async () => {
    await using world = await stage()
    const { token, author } = await page(world)
    const ids: string[] = []
    for (const text of ['One', 'Two']) ids.push((await rest(world, token, 'POST', '/rest/posts', organic(author, text))).headers.get('x-restli-id')!)
    const listed = await rest(world, token, 'GET', `/rest/posts?author=${encodeURIComponent(author)}&q=author&count=10`)
    expect(listed.body.elements.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed())
    const comment = { actor: author, object: ids[0], message: { text: 'A (comment)' } }
    const made = await rest(world, token, 'POST', `/rest/socialActions/${encodeURIComponent(ids[0]!)}/comments`, comment)
    expect([made.status, made.body]).toMatchObject([201, { object: ids[0], message: { text: 'A (comment)' }, commentUrn: expect.stringContaining(ids[0]!) }])
    expect((await received(world)).at(-1)).toMatchObject({
      id: made.body.commentUrn,
      text: 'A (comment)',
      inReplyToId: ids[0],
      target: { kind: 'organization', id: author.split(':').at(-1) },
    })
    const counted = await rest(
      world,
      token,
      'GET',
      `/rest/organizationalEntityShareStatistics?q=organizationalEntity&organizationalEntity=${encodeURIComponent(author)}&shares=List(${ids.map(encodeURIComponent).join(',')})`,
    )
    expect(counted.body.elements).toMatchObject([
      { share: ids[0], totalShareStatistics: { commentCount: 1 } },
      { share: ids[1], totalShareStatistics: { commentCount: 0 } },
    ])
    expect((await rest(world, token, 'GET', `/rest/networkSizes/${encodeURIComponent(author)}?edgeType=COMPANY_FOLLOWED_BY_MEMBER`)).body).toEqual({
      firstDegreeSize: 42,
    })
  })

  test('carry a picture, several with their texts, or an article', async () => {
    await using world = await stage()
    const { token, author } = await person(world)
    const upload = async () => {
      const begun = await rest(world, token, 'POST', '/rest/images?action=initializeUpload', { initializeUploadRequest: { owner: author } })
      const { image, uploadUrl } = begun.body.value
      const put = await send(uploadUrl, { method: 'PUT', headers: { authorization: `Bearer ${token}` }, body: jpeg })
      expect(put.status).toBe(201)
      return image as string
    }
    const [one, two] = [await upload(), await upload()]
    expect((await rest(world, token, 'GET', `/rest/images/${encodeURIComponent(one)}`)).body).toMatchObject({ id: one, status: 'AVAILABLE' })
    await rest(world, token, 'POST', '/rest/posts', organic(author, 'One', { content: { media: { id: one, altText: 'A square' } } }))
    const images = [one, two].map(id => ({ id, altText: 'A square' }))
    await rest(world, token, 'POST', '/rest/posts', organic(author, 'Two', { content: { multiImage: { images } } }))
    const article = { source: 'https://example.com/a', title: 'An article' }
    expect((await rest(world, token, 'POST', '/rest/posts', organic(author, 'Three', { content: { article } }))).status).toBe(201)
    const medium = { mimeType: 'image/jpeg', bytes: jpeg.length, sha256: shaOf(jpeg), altText: 'A square' }
    expect((await received(world)).map(({ media }: { media: object }) => media)).toEqual([[medium], [medium, medium], []])
    const unknown = organic(author, 'Four', { content: { media: { id: 'urn:li:image:nobodys' } } })
    expect((await rest(world, token, 'POST', '/rest/posts', unknown)).status).toBe(400)
    expect((await rest(world, token, 'POST', '/rest/posts', organic(author, 'Five', { content: { multiImage: { images: [images[0]] } } }))).status).toBe(400)
  })

  test('contain a video once all its parts are uploaded and processed', async () => {
    await using world = await stage()
    const { token, author } = await page(world)
    const film = Buffer.concat([Buffer.from('000000186674797069736f6d', 'hex'), Buffer.alloc(5_000_000, 3)])
    const facts = { owner: author, fileSizeBytes: film.length, uploadCaptions: false, uploadThumbnail: false }
    const begun = await rest(world, token, 'POST', '/rest/videos?action=initializeUpload', { initializeUploadRequest: facts })
    const { video, uploadToken, uploadInstructions } = begun.body.value
    expect(uploadInstructions).toMatchObject([
      { firstByte: 0, lastByte: 4_194_303 },
      { firstByte: 4_194_304, lastByte: film.length - 1 },
    ])
    const uploadedPartIds: string[] = []
    for (const { uploadUrl, firstByte, lastByte } of uploadInstructions) {
      const put = await send(uploadUrl, { method: 'PUT', headers: { authorization: `Bearer ${token}` }, body: film.subarray(firstByte, lastByte + 1) })
      uploadedPartIds.push(put.headers.get('etag')!.replaceAll('"', ''))
    }
    const finalize = (ids: string[]) =>
      rest(world, token, 'POST', '/rest/videos?action=finalizeUpload', { finalizeUploadRequest: { video, uploadToken, uploadedPartIds: ids } })
    expect((await finalize(uploadedPartIds.toReversed())).status).toBe(400)
    await arm(world, { fault: 'processing', delayMs: 30_000 })
    expect((await finalize(uploadedPartIds)).status).toBe(200)
    const status = async () => (await rest(world, token, 'GET', `/rest/videos/${encodeURIComponent(video)}`)).body.status
    const post = () => rest(world, token, 'POST', '/rest/posts', organic(author, 'A film', { content: { media: { id: video, title: 'Film' } } }))
    expect([await status(), (await post()).status]).toEqual(['PROCESSING', 400])
    await world.clock.advance(30_000)
    const made = await post()
    expect([await status(), made.status, made.headers.get('x-restli-id')]).toEqual(['AVAILABLE', 201, expect.stringMatching(/^urn:li:ugcPost:/)])
    expect((await received(world))[0].media).toEqual([{ mimeType: 'video/mp4', bytes: film.length, sha256: shaOf(film) }])
  })

  test('spend the faults of posts, and uploads theirs, by the account that is named', async () => {
    await using world = await stage()
    const { token, author } = await person(world)
    const post = (text: string) => rest(world, token, 'POST', '/rest/posts', organic(author, text))
    await arm(world, { fault: 'status', status: 429, account: 'somebody_else' })
    expect((await post('a')).status).toBe(201)
    await arm(world, { fault: 'status', status: 429, account: 'demo_brand' })
    expect((await post('b')).body).toMatchObject({ status: 429, message: expect.stringContaining('throttle') })
    await arm(world, { fault: 'media-status', status: 503 })
    expect((await post('c')).status).toBe(201)
    expect((await rest(world, token, 'POST', '/rest/images?action=initializeUpload', { initializeUploadRequest: { owner: author } })).status).toBe(503)
    await arm(world, { fault: 'grant-revoked' })
    expect((await post('d')).body).toMatchObject({ status: 401, code: 'REVOKED_ACCESS_TOKEN' })
    expect((await post('e')).status).toBe(401)
    expect((await received(world)).map(({ text }: { text: string }) => text)).toEqual(['a', 'c'])
  })
})

import { expect, test } from 'vitest'
import { callback, everyScope, post, send, stage, wish } from './stage.ts'

// Requests and answers as X's own documentation prints them, with the page of each. Where the page shows credentials, ids or
// a callback of its own, the stage's stand in their place.

interface Example {
  readonly page: string
  readonly request: { readonly method: string; readonly path: string; readonly body?: object }
  readonly status: number
  /** The answer's fields and their kinds, as printed. */
  readonly answer: object
}

const examples: readonly Example[] = [
  {
    page: 'https://docs.x.com/x-api/posts/manage-tweets/quickstart',
    request: { method: 'POST', path: '/2/tweets', body: { text: 'Hello from the X API!' } },
    status: 201,
    answer: { data: { id: expect.stringMatching(/^\d{19}$/), text: 'Hello from the X API!' } },
  },
  {
    page: 'https://docs.x.com/x-api/posts/manage-tweets/quickstart#advanced-examples',
    request: { method: 'POST', path: '/2/tweets', body: { text: 'This is a reply!', reply: { in_reply_to_tweet_id: ':post' } } },
    status: 201,
    answer: { data: { id: expect.stringMatching(/^\d{19}$/), text: 'This is a reply!' } },
  },
  {
    page: 'https://docs.x.com/x-api/posts/lookup/quickstart',
    request: { method: 'GET', path: '/2/tweets/:post?tweet.fields=created_at,public_metrics,author_id&expansions=author_id&user.fields=username,verified' },
    status: 200,
    answer: {
      data: {
        id: ':post',
        text: "What did the developer write in their Valentine's card?\n\nwhile(true) {\n    I = Love(You);\n}",
        created_at: '2026-03-01T12:00:00.000Z',
        author_id: ':user',
        public_metrics: expect.objectContaining({ retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0 }),
        edit_history_tweet_ids: [':post'],
      },
      includes: { users: [{ id: ':user', name: ':name', username: ':username', verified: false }] },
    },
  },
  {
    page: 'https://docs.x.com/x-api/users/lookup/quickstart/authenticated-lookup',
    request: { method: 'GET', path: '/2/users/me?user.fields=created_at,description,verified,public_metrics,profile_image_url' },
    status: 200,
    answer: {
      data: {
        id: ':user',
        name: ':name',
        username: ':username',
        created_at: '2026-03-01T12:00:00.000Z',
        description: expect.any(String),
        verified: false,
        profile_image_url: expect.stringMatching(/^https:/),
        public_metrics: expect.objectContaining({ followers_count: 0, following_count: 0, tweet_count: 0, listed_count: 0 }),
      },
    },
  },
  {
    page: 'https://docs.x.com/x-api/posts/timelines/integrate',
    request: { method: 'GET', path: '/2/users/:user/tweets?max_results=100' },
    status: 200,
    answer: {
      data: [{ id: ':post', text: expect.any(String), edit_history_tweet_ids: [':post'] }],
      meta: { result_count: 1, newest_id: ':post', oldest_id: ':post' },
    },
  },
  {
    page: 'https://docs.x.com/x-api/fundamentals/response-codes-and-errors#partial-errors',
    request: { method: 'GET', path: '/2/tweets?ids=:post,456' },
    status: 200,
    answer: {
      data: [expect.objectContaining({ id: ':post' })],
      errors: [
        expect.objectContaining({
          resource_id: '456',
          resource_type: 'tweet',
          title: 'Not Found Error',
          detail: expect.stringContaining('[456]'),
          type: 'https://api.x.com/2/problems/resource-not-found',
        }),
      ],
    },
  },
  {
    page: 'https://docs.x.com/x-api/posts/manage-tweets/quickstart#delete-a-post',
    request: { method: 'DELETE', path: '/2/tweets/:post' },
    status: 200,
    answer: { data: { deleted: true } },
  },
]

test.each(examples)('answers $request.method $request.path as printed on $page', async ({ request, status, answer }) => {
  await using world = await stage()
  const { clientId, account, grant } = world.sandbox.demo.x
  const { accessToken } = await grant(clientId)
  const text = "What did the developer write in their Valentine's card?\n\nwhile(true) {\n    I = Love(You);\n}"
  const { body } = await world.call(accessToken, 'POST', '/2/tweets', { text })
  const places: Record<string, string> = { ':post': body.data.id, ':username': account.username, ':user': account.id, ':name': account.name }
  const inPlace = <T>(value: T): T => {
    if (typeof value === 'string') return value.replace(/:post|:username|:user|:name/g, place => places[place]!) as T
    if (Array.isArray(value)) return value.map(inPlace) as T
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    if (isPlain) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inPlace(one)])) as T
    return resample(value)
  }
  // An asymmetric matcher carries its sample inside.
  const resample = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null && 'sample' in value) (value as { sample: unknown }).sample = inPlace(value.sample)
    return value
  }
  const given = await world.call(accessToken, request.method, inPlace(request.path), request.body && inPlace(request.body))
  expect(given.status).toBe(status)
  if (request.method === 'POST') expect(given.body).toMatchObject(answer)
  else expect(given.body).toEqual(inPlace(answer))
})

test('walks the six steps of https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token', async () => {
  await using world = await stage()
  const { sandbox } = world
  const { address, verifier } = wish(sandbox, { state: 'state' })
  const sentBack = new URL((await send(address.href)).headers.get('location')!)
  expect(sentBack.origin + sentBack.pathname).toBe(callback)
  expect([...sentBack.searchParams.keys()].sort()).toEqual(['code', 'state'])
  expect(sentBack.searchParams.get('state')).toBe('state')

  const form = { code: sentBack.searchParams.get('code')!, grant_type: 'authorization_code', redirect_uri: callback, code_verifier: verifier }
  const tokens = await post(sandbox, '/2/oauth2/token', form)
  expect(tokens).toMatchObject({
    status: 200,
    body: { token_type: 'bearer', expires_in: 7200, access_token: expect.any(String), refresh_token: expect.any(String), scope: everyScope },
  })
  expect(Object.keys(tokens.body)).toHaveLength(5)
  expect((await world.call(tokens.body.access_token, 'GET', '/2/tweets?ids=1261326399320715264,1278347468690915330')).status).toBe(200)

  const refreshed = await post(sandbox, '/2/oauth2/token', { refresh_token: tokens.body.refresh_token, grant_type: 'refresh_token' })
  expect(refreshed).toMatchObject({ status: 200, body: { token_type: 'bearer', expires_in: 7200, scope: everyScope } })
  expect(await post(sandbox, '/2/oauth2/revoke', { token: refreshed.body.access_token })).toMatchObject({ status: 200, body: { revoked: true } })
  expect((await world.call(refreshed.body.access_token, 'GET', '/2/users/me')).status).toBe(401)
})

// https://docs.x.com/fundamentals/counting-characters
test.each([
  ['Latin letters count one', 'a'.repeat(280), 'a'.repeat(281)],
  ['emoji count two, however they are composed', '👨‍👩‍👧‍👦'.repeat(140), '👨‍👩‍👧‍👦'.repeat(141)],
  ['Chinese characters count two', '字'.repeat(140), '字'.repeat(141)],
  ['links count 23', `${'a'.repeat(256)} https://example.com/very/long/path/${'x'.repeat(200)}`, `${'a'.repeat(257)} https://example.com`],
  ['composed and decomposed letters count alike', 'cafe\u0301'.repeat(70), 'cafe\u0301'.repeat(71)],
])('%s', async (_rule, fits, isTooLong) => {
  await using world = await stage()
  const { accessToken } = await world.sandbox.demo.x.grant(world.sandbox.demo.x.clientId)
  expect((await world.call(accessToken, 'POST', '/2/tweets', { text: fits })).status).toBe(201)
  const refused = await world.call(accessToken, 'POST', '/2/tweets', { text: isTooLong })
  expect(refused).toMatchObject({ status: 400, body: { title: 'Invalid Request', errors: [{ message: expect.stringContaining('too long') }] } })
})

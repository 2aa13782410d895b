import { expect, test } from 'vitest'
import { post, send, stage } from './stage.ts'

/** A stage with an access token of the demo account. */
async function connected() {
  const world = await stage()
  const { accessToken } = await world.sandbox.demo.x.grant(world.sandbox.demo.x.clientId)
  const call = (method: string, path: string, body?: unknown) => world.call(accessToken, method, path, body)
  return {
    ...world,
    accessToken,
    x: call,
    publish: (text: string) => call('POST', '/2/tweets', { text }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

test('text is returned escaped and with short links, whose entities contain the originals', async () => {
  await using world = await connected()
  const text = '  Fish & chips <now> 🎣 https://www.example.com/a/rather/long/way?to=it&by=bus #food example.org  '
  const { body } = await world.publish(text)
  const shown = (await world.x('GET', `/2/tweets/${body.data.id}?tweet.fields=entities`)).body.data
  expect(shown.text).toBe(body.data.text)
  const [first, second] = shown.entities.urls
  expect(first).toMatchObject({
    url: expect.stringMatching(/^https:\/\/t\.co\/\w{10}$/),
    expanded_url: 'https://www.example.com/a/rather/long/way?to=it&by=bus',
    display_url: 'example.com/a/rather/long/…',
  })
  expect(second).toMatchObject({ expanded_url: 'http://example.org', display_url: 'example.org' })
  expect(shown.text).toBe(`Fish &amp; chips &lt;now&gt; 🎣 ${first.url} #food ${second.url}`)
  const letters = [...shown.text]
  for (const link of [first, second]) expect(letters.slice(link.start, link.end).join('')).toBe(link.url)
  const [tag] = shown.entities.hashtags
  expect([tag.tag, letters.slice(tag.start, tag.end).join('')]).toEqual(['food', '#food'])
  expect((await world.received())[0]).toMatchObject({ text, id: body.data.id, receivedAt: '2026-03-01T12:00:00.000Z' })
})

test('ids grow although the clock stands still or goes back', async () => {
  await using world = await connected()
  const first = (await world.publish('one')).body.data.id
  const second = (await world.publish('two')).body.data.id
  world.clock.advance(-60_000)
  const third = (await world.publish('three')).body.data.id
  expect([first, second, third]).toEqual([...new Set([third, first, second])].sort())
  expect((await world.received()).map(one => one.text)).toEqual(['one', 'two', 'three'])
})

test('the same text is rejected for a day while the first post exists', async () => {
  await using world = await connected()
  const refusal = {
    status: 403,
    body: { title: 'Forbidden', status: 403, type: 'about:blank', detail: 'You are not allowed to create a Tweet with duplicate content.' },
  }
  const { body } = await world.publish('Good morning')
  expect(await world.publish(' Good morning ')).toMatchObject(refusal)
  expect((await world.publish('Good morning!')).status).toBe(201)
  await world.x('DELETE', `/2/tweets/${body.data.id}`)
  expect((await world.publish('Good morning')).status).toBe(201)
  world.clock.advance(23 * 3_600_000)
  const again = (await world.sandbox.demo.x.grant(world.sandbox.demo.x.clientId)).accessToken
  expect(await world.call(again, 'POST', '/2/tweets', { text: 'Good morning' })).toMatchObject(refusal)
  world.clock.advance(3_600_000)
  expect((await world.call(again, 'POST', '/2/tweets', { text: 'Good morning' })).status).toBe(201)
})

test('a hundred posts are accepted in fifteen minutes, then none until the window ends', async () => {
  await using world = await connected()
  for (let number = 1; number <= 100; number += 1) {
    const { status, headers } = await world.publish(`Post number ${number}`)
    expect([status, headers.get('x-rate-limit-limit'), headers.get('x-rate-limit-remaining')]).toEqual([201, '100', String(100 - number)])
  }
  const refused = await world.publish('One too many')
  expect(refused).toMatchObject({ status: 429, body: { title: 'Too Many Requests', detail: 'Too Many Requests', type: 'about:blank', status: 429 } })
  expect(refused.headers.get('x-rate-limit-remaining')).toBe('0')
  expect(Number(refused.headers.get('x-rate-limit-reset')) * 1000).toBe(Date.parse('2026-03-01T12:15:00.000Z'))
  world.clock.advance(15 * 60_000)
  expect((await world.publish('One too many')).status).toBe(201)
  expect(await world.received()).toHaveLength(101)
})

test('a reply joins the conversation; a reply to a missing post is forbidden', async () => {
  await using world = await connected()
  const root = (await world.publish('root')).body.data.id
  const child = (await world.x('POST', '/2/tweets', { text: 'child', reply: { in_reply_to_tweet_id: root } })).body.data.id
  const grandchild = (await world.x('POST', '/2/tweets', { text: 'grandchild', reply: { in_reply_to_tweet_id: child } })).body.data.id
  const shown = (await world.x('GET', `/2/tweets/${grandchild}?tweet.fields=conversation_id,referenced_tweets,in_reply_to_user_id`)).body.data
  expect(shown).toMatchObject({
    conversation_id: root,
    referenced_tweets: [{ type: 'replied_to', id: child }],
    in_reply_to_user_id: world.sandbox.demo.x.account.id,
  })
  await world.x('DELETE', `/2/tweets/${grandchild}`)
  for (const parent of [grandchild, '1234567890'])
    expect(await world.x('POST', '/2/tweets', { text: 'too late', reply: { in_reply_to_tweet_id: parent } })).toMatchObject({
      status: 403,
      body: { title: 'Forbidden', detail: 'You attempted to reply to a Tweet that is deleted or not visible to you.' },
    })
})

test.each<[string, unknown, string]>([
  ['an empty body', {}, 'text is missing'],
  ['blank text', { text: ' \n ' }, 'text is missing'],
  ['a number for text', { text: 5 }, '$.text: integer found, string expected'],
  ['an unknown property', { text: 'a', copy: 'b' }, '$.copy: is not defined in the schema'],
  ['a reply to nothing', { text: 'a', reply: {} }, '$.reply.in_reply_to_tweet_id: is missing but it is required'],
  ['a reply to a word', { text: 'a', reply: { in_reply_to_tweet_id: 'x' } }, 'does not match the regex pattern'],
  ['media that was never uploaded', { text: 'a', media: { media_ids: ['1'] } }, 'Your media IDs are invalid.'],
  ['an array', [], '$: array found, object expected'],
])('a post with %s is an invalid request', async (_what, body, message) => {
  await using world = await connected()
  const refused = await world.x('POST', '/2/tweets', body)
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({
    title: 'Invalid Request',
    type: 'https://api.x.com/2/problems/invalid-request',
    errors: [{ message: expect.stringContaining(message) }],
  })
  expect(await world.received()).toEqual([])
})

test('a body that is not JSON, not called JSON, or too large is refused', async () => {
  await using world = await connected()
  const raw = (body: string, type: string) =>
    send(`${world.sandbox.origin}/x/2/tweets`, { method: 'POST', headers: { authorization: `Bearer ${world.accessToken}`, 'content-type': type }, body })
  expect((await raw('{', 'application/json')).body.errors[0].message).toBe('Request body is not valid JSON.')
  expect((await raw('{"text":"a"}', 'text/plain')).body.errors[0].message).toBe('Requests with bodies must have content-type of application/json.')
  expect((await raw(JSON.stringify({ text: 'a'.repeat(70_000) }), 'application/json')).status).toBe(413)
})

test('the listing narrows by id, by time and to posts that are no replies', async () => {
  await using world = await connected()
  const ids: string[] = []
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) {
    ids.push((await world.publish(text)).body.data.id)
    world.clock.advance(10_000)
  }
  await world.x('POST', '/2/tweets', { text: 'answer', reply: { in_reply_to_tweet_id: ids[0] } })
  const list = async (query: string) =>
    (await world.x('GET', `/2/users/${world.sandbox.demo.x.account.id}/tweets?${query}`)).body.data?.map((one: { text: string }) => one.text) ?? []
  expect(await list('')).toEqual(['answer', 'f', 'e', 'd', 'c', 'b', 'a'])
  expect(await list('exclude=replies,retweets')).toEqual(['f', 'e', 'd', 'c', 'b', 'a'])
  expect(await list(`since_id=${ids[3]}`)).toEqual(['answer', 'f', 'e'])
  expect(await list(`until_id=${ids[2]}`)).toEqual(['b', 'a'])
  expect(await list('start_time=2026-03-01T12:00:20Z&end_time=2026-03-01T12:00:50Z')).toEqual(['e', 'd', 'c'])
  expect((await world.x('GET', `/2/users/${world.sandbox.demo.x.account.id}/tweets?since_id=9000000000000000000`)).body).toEqual({ meta: { result_count: 0 } })
})

test.each([
  ['max_results=4', 'is not between 5 and 100'],
  ['max_results=101', 'is not between 5 and 100'],
  ['since_id=abc', 'is not valid'],
  ['pagination_token=abc', 'is not valid'],
  ['start_time=yesterday', 'is not a valid date-time'],
  ['tweet.fields=created_at,mood', '[mood] is not one of'],
  ['exclude=everything', '[everything] is not one of'],
  ['page=2', 'The query parameter [page] is not one of'],
  ['since_id=1&since_id=2', 'Duplicate parameters are not allowed'],
])('a listing with %s is an invalid request', async (query, message) => {
  await using world = await connected()
  const refused = await world.x('GET', `/2/users/${world.sandbox.demo.x.account.id}/tweets?${query}`)
  expect(refused).toMatchObject({ status: 400, body: { title: 'Invalid Request', errors: [{ message: expect.stringContaining(message) }] } })
})

test('missing objects are reported in the errors of a 200, and unknown paths are 404', async () => {
  await using world = await connected()
  expect((await world.x('GET', '/2/tweets/123')).body).toEqual({
    errors: [expect.objectContaining({ title: 'Not Found Error', resource_id: '123', resource_type: 'tweet' })],
  })
  expect((await world.x('GET', '/2/users/123/tweets')).body).toEqual({
    errors: [expect.objectContaining({ resource_type: 'user', detail: 'Could not find user with id: [123].' })],
  })
  for (const [method, path] of [
    ['GET', '/2/likes'],
    ['PUT', '/2/tweets'],
    ['GET', '/2/tweets/:id'.replace(':id', '1/likes')],
    ['DELETE', '/2/tweets/123'],
  ] as const)
    expect((await world.x(method, path)).status).toBe(404)
})

test('without a valid token everything is rejected', async () => {
  await using world = await connected()
  for (const token of ['', 'nothing', world.sandbox.demo.x.clientSecret]) expect((await world.call(token, 'GET', '/2/users/me')).status).toBe(401)
  expect((await post(world.sandbox, '/2/tweets', { text: 'with Basic' })).status).toBe(401)
})

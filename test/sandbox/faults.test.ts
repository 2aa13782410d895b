import { expect, test } from 'vitest'
import { twinNames, vendors } from '../../sandbox/networks.ts'
import { post, send, stage } from './stage.ts'

/** Everybody who is played here. */
const played = [...twinNames, ...Object.keys(vendors)]

async function connected() {
  const world = await stage()
  const { accessToken, refreshToken } = await world.sandbox.demo.x.grant(world.sandbox.demo.x.clientId)
  const call = (method: string, path: string, body?: unknown) => world.call(accessToken, method, path, body)
  const requests = async () => (await send(`${world.sandbox.origin}/_control/requests?network=x`)).body
  return {
    ...world,
    accessToken,
    refreshToken,
    requests,
    x: call,
    publish: (text: string) => call('POST', '/2/tweets', { text }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

test('status is spent by calls that create a post, as often as it was armed, and publishes nothing', async () => {
  await using world = await connected()
  expect(await world.arm({ fault: 'status', status: 503, times: 2 })).toMatchObject({
    status: 200,
    body: [{ network: 'x', fault: 'status', status: 503, times: 2 }],
  })
  expect((await world.x('GET', '/2/users/me')).status).toBe(200)
  const refused = await world.publish('first')
  expect(refused).toMatchObject({ status: 503, body: { title: 'Service Unavailable', detail: 'Service Unavailable', type: 'about:blank', status: 503 } })
  expect((await world.publish('first')).status).toBe(503)
  expect((await world.publish('first')).status).toBe(201)
  expect((await world.received()).map(one => one.text)).toEqual(['first'])
  expect((await world.requests()).map((one: { method: string; outcome: string }) => `${one.method} ${one.outcome}`)).toEqual([
    'GET read',
    'POST faulted',
    'POST faulted',
  ])
})

test('status 429 contains the time to wait', async () => {
  await using world = await connected()
  await world.arm({ fault: 'status', status: 429, resetSeconds: 5 })
  const { status, headers } = await world.publish('soon')
  expect([status, headers.get('x-rate-limit-limit'), headers.get('x-rate-limit-remaining')]).toEqual([429, '100', '0'])
  expect(Number(headers.get('x-rate-limit-reset')) * 1000).toBe(world.clock.now().getTime() + 5000)
  expect((await world.publish('soon')).headers.get('x-rate-limit-remaining')).toBe('99')
})

test('status-after-accept publishes, then answers with an error', async () => {
  await using world = await connected()
  await world.arm({ fault: 'status-after-accept', status: 503 })
  expect((await world.publish('published all the same')).status).toBe(503)
  expect((await world.received()).map(one => one.text)).toEqual(['published all the same'])
  expect((await world.publish('and the next')).status).toBe(201)
})

test('timeout-after-accept publishes, then never answers', async () => {
  await using world = await connected()
  await world.arm({ fault: 'timeout-after-accept' })
  const leaving = new AbortController()
  const pending = fetch(`${world.sandbox.origin}/x/2/tweets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'heard by all but the sender' }),
    signal: leaving.signal,
  }).then(
    () => 'answered',
    () => 'left',
  )
  await expect.poll(world.received).toMatchObject([{ text: 'heard by all but the sender' }])
  expect(await Promise.race([pending, new Promise(resolve => setTimeout(resolve, 300, 'waiting'))])).toBe('waiting')
  leaving.abort()
  expect(await pending).toBe('left')
  expect((await world.publish('heard by all but the sender')).status).toBe(403)
  expect((await world.x('GET', `/2/users/${world.sandbox.demo.x.account.id}/tweets`)).body.meta.result_count).toBe(1)
  expect((await world.requests())[0]).toMatchObject({ outcome: 'faulted', fault: 'timeout-after-accept' })
})

test('a rejected call leaves timeout-after-accept for the next one that publishes', async () => {
  await using world = await connected()
  await world.publish('said')
  await world.arm({ fault: 'timeout-after-accept' })
  expect((await world.publish('said')).status).toBe(403)
  expect((await send(`${world.sandbox.origin}/_control/faults`)).body).toMatchObject([{ fault: 'timeout-after-accept', times: 1 }])
})

test('stopping cuts the calls that a fault holds', async () => {
  await using world = await connected()
  await world.arm({ fault: 'timeout-after-accept' })
  const pending = world.publish('held').catch(() => 'cut')
  await expect.poll(world.received).toHaveLength(1)
  await world.sandbox.stop()
  expect(await pending).toBe('cut')
})

test('accept-then-reset publishes and cuts the connection', async () => {
  await using world = await connected()
  await world.arm({ fault: 'accept-then-reset' })
  await expect(world.publish('cut off')).rejects.toThrow()
  expect((await world.received()).map(one => one.text)).toEqual(['cut off'])
})

test('slow publishes at once and answers later', async () => {
  await using world = await connected()
  await world.arm({ fault: 'slow', delayMs: 250 })
  const start = performance.now()
  expect((await world.publish('late')).status).toBe(201)
  expect(performance.now() - start).toBeGreaterThanOrEqual(245)
})

test('listing-lag hides young posts from the listing alone', async () => {
  await using world = await connected()
  const { body } = await world.publish('young')
  world.clock.advance(5000)
  const list = async () => (await world.x('GET', `/2/users/${world.sandbox.demo.x.account.id}/tweets`)).body.meta.result_count
  await world.arm({ fault: 'listing-lag', delayMs: 10_000, times: 2 })
  expect(await list()).toBe(0)
  expect((await world.x('GET', `/2/tweets/${body.data.id}`)).body.data.id).toBe(body.data.id)
  world.clock.advance(5000)
  expect(await list()).toBe(1)
  await world.arm({ fault: 'none' })
  expect(await list()).toBe(1)
})

test('expired-token refuses good tokens as often as armed, on any call; a refresh helps', async () => {
  await using world = await connected()
  await world.arm({ fault: 'expired-token', times: 1 })
  expect((await world.call('nothing', 'GET', '/2/users/me')).status).toBe(401)
  expect(await world.publish('held back')).toMatchObject({ status: 401, body: { title: 'Unauthorized', status: 401, type: 'about:blank' } })
  const { body } = await post(world.sandbox, '/2/oauth2/token', { grant_type: 'refresh_token', refresh_token: world.refreshToken })
  expect((await world.call(body.access_token, 'POST', '/2/tweets', { text: 'held back' })).status).toBe(201)
})

test('arming replaces the armed fault, and none disarms', async () => {
  await using world = await connected()
  await world.arm({ fault: 'status', status: 500, times: 9 })
  expect((await world.arm({ fault: 'status', status: 403 })).body).toMatchObject([{ status: 403, times: 1 }])
  expect((await world.arm({ fault: 'none' })).body).toEqual([])
  expect((await world.publish('free')).status).toBe(201)
})

test.each<[Record<string, unknown>, string]>([
  [{ network: 'y', fault: 'none' }, `expected one of ${played.join(', ')}`],
  [{ fault: 'earthquake' }, 'expected one of none, status'],
  [{ fault: 'status' }, 'whole number from 400 to 599'],
  [{ fault: 'status', status: 200 }, 'whole number from 400 to 599'],
  [{ fault: 'none', status: 403 }, 'only with the faults "status"'],
  [{ fault: 'status', status: 500, times: 0 }, 'whole number from 1 to 1000'],
  [{ fault: 'slow' }, 'milliseconds from 1'],
  [{ fault: 'status', status: 500, resetSeconds: 5 }, 'only with status 429'],
  [{ fault: 'none', often: 1 }, 'often is not known here'],
])('the fault %j is refused with a sentence', async (fault, sentence) => {
  await using world = await stage()
  expect(await world.arm(fault)).toMatchObject({ status: 400, body: { error: expect.stringContaining(sentence) } })
})

test('its first page lists the third parties with their addresses', async () => {
  await using world = await stage()
  const { status, body } = await send(`${world.sandbox.origin}/`)
  expect([status, body.plays]).toEqual([200, played.map(name => `/${name}`)])
  for (const path of body.received) expect((await send(`${world.sandbox.origin}${path}`)).status).toBe(200)
  expect(body.control).toContain('POST /_control/faults')
})

test('the control routes explain invalid requests', async () => {
  await using world = await stage()
  const at = (path: string, options?: RequestInit) => send(`${world.sandbox.origin}${path}`, options)
  expect(await at('/_control/received')).toMatchObject({ status: 400, body: { error: `network is missing: expected one of ${played.join(', ')}.` } })
  expect(await at('/_control/requests?network=y')).toMatchObject({ status: 400, body: { error: `network is "y": expected one of ${played.join(', ')}.` } })
  expect((await at('/_control/faults', { method: 'POST', body: '{"network":"x","fault":"none"}' })).status).toBe(415)
  expect((await at('/_control/other')).status).toBe(404)
  expect((await at('/y/2/tweets')).status).toBe(404)
})

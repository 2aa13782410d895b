import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { key, person } from '../../../kit/viewers.ts'
import { origin, service, videoWorld } from './stage.ts'

const kib = 1024
const film = (title: string) => JSON.stringify({ snippet: { title }, status: { privacyStatus: 'private' } })
const begin = { method: 'POST', headers: { 'content-type': 'application/json', 'x-upload-content-type': 'video/mp4' } }
const upload = 'upload/youtube/v3/videos?uploadType=resumable&part=snippet,status'

describe('G-09 a call of the video network', () => {
  test('is passed on with the token of the account, counted, and on record', async () => {
    await using world = await videoWorld()
    const answer = await world.list()
    expect(answer.status).toBe(200)
    expect(((await answer.json()) as { items: unknown[] }).items).toHaveLength(1)
    const { 'x-quota-bucket': bucket, 'x-quota-cost': cost, 'x-quota-remaining': remaining, 'x-quota-resets-at': resetsAt } = Object.fromEntries(answer.headers)
    expect([bucket, cost, remaining, resetsAt]).toEqual(['default', '1', '9999', '2027-03-02T08:00:00.000Z'])
    expect(await world.used()).toEqual([{ bucket: 'default', day: '2027-03-01', used: 1 }])
    expect(await world.calls()).toEqual([
      { family: 'VIDEO', operation: 'channels.list', status: 'SUCCEEDED', appId: 'app_publishing', units: 1, costMicros: 10 },
    ])
  })

  test('is for services with VIDEO alone, below two addresses, and with a token', async () => {
    await using world = await videoWorld()
    const { organizationId, call, token } = world
    const path = 'youtube/v3/channels?part=id&mine=true'
    const refusals = [
      await call(path, { as: person(newId(), organizationId, ['owner']) }),
      await call(path, { as: key(organizationId, ['providers:service.invoke']) }),
      await call(path, { as: { ...service(organizationId), operations: ['COMPLETIONS'] } }),
      await call('oauth2/v3/userinfo'),
      await call('youtube/v3/'),
      await call('youtube/v3/%2e%2e/%2e%2e/oauth2'),
      await call('youtube/v3/a%2fb'),
      await call('youtube/v3/..;/x'),
      await call(path, { headers: { 'x-connection-token': '' } }),
      await call(path, { as: { ...service(organizationId), organizationId: null } }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 404, 404, 404, 404, 404, 400, 400])
    expect(await Promise.all(refusals.map(each => each.text()))).not.toContain(token)
    expect(await world.used()).toEqual([])
    expect(world.graph.sent).toEqual([])
  })

  test('forwards no headers of ours, and returns none of the connection', async () => {
    await using world = await videoWorld()
    const headers = {
      cookie: 'a=b',
      authorization: 'Bearer ours',
      'x-service-token': 'secret',
      'x-http-method-override': 'DELETE',
      'x-forwarded-for': '1.2.3.4',
    }
    const answer = await world.call('youtube/v3/channels?part=id&mine=true', { headers })
    expect(answer.status).toBe(200)
    expect([...answer.headers.keys()].filter(name => !/^(?:content-|cache-control|date|x-quota-)/.test(name))).toEqual([])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('counts when it is sent, also when the network rejects it; one that never reached the network is refunded', async () => {
    await using world = await videoWorld()
    const refused = [
      await world.call('youtube/v3/channels?part=id'),
      await world.call('youtube/v3/videos?part=id&id=x', { headers: { 'x-connection-token': 'nobodys' } }),
      await world.call('youtube/v3/videos?id=nothing', { method: 'DELETE' }),
    ]
    for (const each of refused) expect(await each.text()).toContain('errors')
    expect(refused.map(({ status }) => status)).toEqual([400, 401, 404])
    expect(await world.used()).toMatchObject([{ bucket: 'default', used: 52 }])
    const back = await world.graph.x.away()
    const lost = await world.list()
    expect([lost.status, ((await lost.json()) as { code: string }).code]).toEqual([502, 'UPSTREAM_FAILED'])
    await back[Symbol.asyncDispose]()
    expect(await world.used()).toMatchObject([{ bucket: 'default', used: 52 }])
    expect((await world.calls()).map(({ status, units }) => `${status} ${units}`).sort()).toEqual(['FAILED 0', 'FAILED 1', 'FAILED 1', 'FAILED 50'])
  })

  test('that never reached the network is settled first, and failures to release or store are logged', async () => {
    await using world = await videoWorld()
    const { graph } = world
    const lines = (words: string) => graph.log.filter(line => line.includes(words)).length
    await graph.rows('alter table providers.video_quota_days add constraint no_way_back check (used > 0)')
    await using _away = await graph.x.away()
    expect((await world.list()).status).toBe(502)
    expect([(await world.calls()).map(({ status }) => status), lines('could not be released')]).toEqual([['FAILED'], 1])
    await graph.rows(`alter table providers.calls add constraint no_end check (status = 'RUNNING') not valid`)
    expect((await world.list()).status).toBe(502)
    expect([lines('outcome of a call could not be stored'), await world.used()]).toMatchObject([1, [{ used: 1 }]])
  })

  test('that the network rejects for its quota is 429 until midnight on the Pacific coast; other errors are passed on', async () => {
    await using world = await videoWorld()
    await world.arm({ fault: 'status', status: 403, times: 1 })
    const over = await world.list()
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, String(23 * 3_600)])
    expect(await over.json()).toMatchObject({ code: 'RATE_LIMITED', reason: 'QUOTA_EXHAUSTED', resetsAt: '2027-03-02T08:00:00.000Z' })
    await world.arm({ fault: 'status', status: 503, times: 1 })
    expect((await world.list()).status).toBe(503)
    expect((await world.list()).status).toBe(200)
  })

  test('that breaks on its way is 502, or ends its answer, and leaves nothing behind', async () => {
    await using world = await videoWorld()
    await world.arm({ fault: 'accept-then-reset', times: 1 })
    expect((await world.list()).status).toBe(502)
    await world.arm({ fault: 'reset-mid-stream', times: 1 })
    await expect(world.list().then(answer => answer.text())).rejects.toThrow()
    await world.arm({ fault: 'endless', times: 1 })
    const endless = await world.list()
    await endless.body!.cancel()
    await expect.poll(async () => (await world.calls()).map(({ status }) => status).sort()).toEqual(['ABORTED', 'FAILED', 'FAILED'])
    expect(await world.used()).toMatchObject([{ used: 3 }])
  })
})

describe('G-09 an upload in parts', () => {
  test('uses an address of ours, counts once, and results in a video', async () => {
    await using world = await videoWorld()
    const total = 512 * kib
    const opened = await world.call(upload, { ...begin, headers: { ...begin.headers, 'x-upload-content-length': String(total) }, body: film('In parts') })
    expect([opened.status, opened.headers.get('x-quota-bucket'), opened.headers.get('x-quota-cost')]).toEqual([200, 'videos.insert', '1'])
    const session = opened.headers.get('location')!
    expect(session).toMatch(`${origin}/providers/platform/youtube/upload/youtube/v3/videos?uploadType=resumable`)
    const put = (from: number, to: number) =>
      world.call(session.slice(`${origin}/providers/platform/youtube/`.length), {
        method: 'PUT',
        headers: { 'content-type': 'video/mp4', 'content-range': `bytes ${from}-${to - 1}/${total}` },
        body: new ReadableStream({
          start(controller) {
            for (let at = from; at < to; at += 64 * kib) controller.enqueue(new Uint8Array(64 * kib))
            controller.close()
          },
        }),
        duplex: 'half',
      })
    const half = await put(0, total / 2)
    expect([half.status, half.headers.get('range'), half.headers.get('x-quota-cost')]).toEqual([308, `bytes=0-${total / 2 - 1}`, '0'])
    const whole = await put(total / 2, total)
    expect([whole.status, ((await whole.json()) as { kind: string }).kind]).toEqual([200, 'youtube#video'])
    expect(await world.received()).toMatchObject([{ text: 'In parts', privacyStatus: 'private', bytes: total }])
    expect(await world.used()).toMatchObject([{ bucket: 'videos.insert', used: 1 }])
  })

  test('costs its full price when a caller only claims to continue', async () => {
    await using world = await videoWorld()
    const { call } = world
    const more = '&upload_id=none'
    const answers = [
      await call(`${upload}${more}`, { ...begin, body: film('A') }),
      await call(`upload/youtube/v3/videos?uploadType=multipart&part=id${more}`, { method: 'PUT', body: 'x' }),
      await call(`youtube/v3/videos?uploadType=resumable&part=id${more}`, { method: 'PUT', body: 'x' }),
      await call(`${upload}${more}`, { method: 'PUT', body: 'x' }),
    ]
    expect(answers.map(({ headers }) => headers.get('x-quota-cost'))).toEqual(['1', '50', '50', '0'])
  })
})

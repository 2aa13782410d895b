import { expect, test, vi } from 'vitest'
import { supergraph } from '../../../../kit/supergraph.ts'
import { logged, stored, texts, wake } from '../delivering.ts'

test('readiness names each queue and each sweep of delivery that does not go round', async () => {
  await using graph = await supergraph()
  await graph.job.jobs.check()
  // Rounds that began with the start may still be under way when the time moves: they count as of then.
  await vi.waitFor(async () => {
    await graph.clock.advance(80_000)
    const said = await graph.job.jobs.check().catch((error: Error) => error.message)
    for (const name of ['deliver-post', 'overdue posts', 'interrupted calls', 'unknown outcomes', 'what is old'])
      expect(said).toContain(`${name} last went round`)
  }, 10_000)
})

test('readiness names the missing encryption key, the log reports it once, and posts wait for it', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { post, connection } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(5_000) })
  const ready = () => graph.platform.publishing.ready!()
  const logLines = () => logged(graph)
  await ready()
  const put = (accessToken: string | null) => graph.rows('update publishing.connections set access_token = $1', [accessToken])
  const kept = connection.accessToken!
  // Another key under the same name, then one of another name.
  await put(
    kept
      .replace(/.$/, last => (last === 'A' ? 'B' : 'A'))
      .replace(/\.([^.])([^.]*)\.([^.]*)$/, (_all, first, rest, body) => `.${first === 'A' ? 'B' : 'A'}${rest}.${body}`),
  )
  await expect(ready()).rejects.toMatchObject({ name: 'NotReady', message: expect.stringContaining('encryption key test ') })
  await put(kept.replace('v1.test', 'v1.gone'))
  await graph.clock.advance(5_000)
  await wake(graph, post)
  for (let times = 0; times < 2; times++)
    await expect(ready()).rejects.toMatchObject({ name: 'NotReady', message: expect.stringContaining('encryption key gone is missing') })
  expect(logLines().map(({ keys }) => keys)).toEqual(['test', 'gone'])
  expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', waitsUntil: graph.clock.in(5_000), failureCode: null })
  await put(kept)
  // A refresh token that was kept over a renewal is sealed with an older key than the access token.
  await graph.rows(`update publishing.connections set refresh_token = replace(refresh_token, 'v1.test', 'v1.older')`)
  await expect(ready()).rejects.toMatchObject({ message: expect.stringContaining('encryption key older is missing') })
  await graph.rows(`update publishing.connections set refresh_token = replace(refresh_token, 'v1.older', 'v1.test')`)
  await ready()
  await graph.clock.advance(5_000)
  await wake(graph, post)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[post.copy], 'PUBLISHED'])
})

import { parse } from 'graphql'
import pg from 'pg'
import { expect, test } from 'vitest'
import { formatError } from '../../router/door/errors.ts'
import { until } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'

test('reports a database that becomes unavailable during a write as such, so that a client retries with its key', async () => {
  await using graph = await supergraph()
  const { owner, brand } = await graph.seed.owner().brand()
  const other = new pg.Client({ connectionString: graph.database.url })
  await other.connect()
  await other.query('begin')
  await other.query('lock table publishing.posts in access exclusive mode')
  const create = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
  const input = { brandId: brand.id, platform: 'X', copy: 'once', idempotencyKey: 'once' }
  const answer = graph.platform.engine.execute({ document: parse(create), variables: { input }, viewer: owner, requestId: 'request-1' })
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('the write waits', async () => (await other.query(waiting)).rowCount)
  await other.query(`select pg_terminate_backend(pid) from (${waiting}) w`)
  await other.query('rollback')
  await other.end()
  const [error] = (await answer).errors!
  expect(formatError(error, { requestId: 'request-1', log: graph.job.log, hideSuggestions: false })).toMatchObject({
    message: 'A part that this service needs is not available; try again in a moment.',
    extensions: { code: 'UPSTREAM_FAILED', service: 'publishing' },
  })
  expect(graph.log.filter(line => /"requestId":"request-1".*operation failed/.test(line))).toEqual([
    expect.stringMatching(/ECONNRESET|Connection terminated|57P01/),
  ])
  expect((await graph.execute(create, { input }, { as: owner })).error).toBe(undefined)
  expect(await graph.rows('select id from publishing.posts')).toHaveLength(1)
})

import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { retention } from '../../../../platform/jobs/retention.ts'
import { agingOf } from '../../../../subgraphs/publishing/delivery/retention.ts'
import { record } from '../../../../subgraphs/store/books.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'

const day = 86_400_000

test('removes records older than their retention, and none that are younger or still referenced', async () => {
  await using graph = await supergraph({ sandbox: true })
  const story = graph.seed.owner().brand().connection()
  const { brand, connection, post: settled } = await story.post()
  const failure = { failureCode: 'OUTCOME_UNKNOWN', failureMessage: '?', failedAt: graph.clock.now() }
  const { post: unknown } = await story.post({ row: { status: 'FAILED', deliveryPhase: 'UNKNOWN', attempts: 1, ...failure } })
  const { brandId } = settled
  const begin = (post: typeof settled) =>
    inTransaction(graph.job, ({ transaction }) =>
      graph.job.attempts.begin(
        { post, connectionId: connection.id, externalAccountId: connection.externalAccountId, copy: post.copy, inReplyTo: null },
        { now: graph.clock.now(), transaction },
      ),
    )
  const audit = (action: string) => inTransaction(graph.job, unit => record(graph.job, { tenantId: brandId, action, subjectId: brandId }, unit))
  const authorize = (state: string) =>
    graph.job.authorizations.begin(
      { state, verifier: 'v', brandId: brand.id, platform: 'X', userId: newId(), browserHash: null, begunBy: null, organizationName: null },
      graph.clock.now(),
    )
  const remember = (key: string) =>
    graph.rows(`insert into publishing.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at) values ($1, 'user:1', 'post', $2, 'h', $1, $3)`, [
      brandId,
      key,
      graph.clock.now(),
    ])
  const keys = async () => (await graph.rows<{ key: string }>('select key from publishing.idempotency_keys order by at')).map(({ key }) => key)
  const report = (id: string) =>
    graph.rows(
      `insert into publishing.post_imports (brand_id, id, created, report, created_at, updated_at, created_by) values ($1, $2, 0, '[]', $3, $3, 'user:1')`,
      [brandId, id, graph.clock.now()],
    )
  const reports = async () => (await graph.rows('select from publishing.post_imports')).length
  const uploads = async () => (await graph.rows('select from publishing.media_uploads')).length
  await graph.rows(
    `insert into publishing.media_uploads (brand_id, id, filename, bytes, expires_at, created_at, updated_at, created_by)
      values ($1, $1, 'a', 1, $2, $2, $2, 'user:1')`,
    [brandId, graph.clock.now()],
  )
  await remember('old')
  await report(newId())
  await graph.rows('delete from publishing.audit_entries')
  await audit('old')
  await begin(settled)
  await begin(unknown)
  await authorize('old')
  await graph.clock.advance(day + 600_000)
  const sweep = retention({ sequelize: graph.database.sequelize, clock: graph.clock }, agingOf({ auditDays: 2, attemptDays: 2 }))
  const left = async () => ({
    audit: (await graph.rows<{ action: string }>('select action from publishing.audit_entries order by at')).map(({ action }) => action),
    attempts: (await graph.rows<{ post_id: string }>('select post_id from publishing.attempts order by started_at, post_id')).map(({ post_id }) => post_id),
    authorizations: (await graph.rows('select from publishing.authorizations')).length,
  })
  await sweep.run()
  expect(await left(), 'within two days').toEqual({ audit: ['old'], attempts: [settled.id, unknown.id].sort(), authorizations: 1 })
  await graph.clock.advance(1)
  await sweep.run()
  expect((await left()).authorizations, 'a day after it ended').toBe(0)
  expect(await uploads(), 'a day after an upload ended').toBe(1)
  await audit('young')
  await graph.clock.advance(day)
  await sweep.run()
  expect(await uploads(), 'two days after an upload ended').toBe(0)
  expect(await left(), 'after two days').toEqual({ audit: ['young'], attempts: [unknown.id], authorizations: 0 })
  await graph.clock.advance(5 * day - 600_001)
  await remember('young')
  await sweep.run()
  expect(await keys(), 'within a week').toEqual(['old', 'young'])
  await graph.clock.advance(1)
  await sweep.run()
  expect(await keys(), 'after a week').toEqual(['young'])
  expect(await reports(), 'a report outlives its key').toBe(1)
  await graph.clock.advance(day)
  await sweep.run()
  expect(await reports(), 'by a day').toBe(0)
})

import { expect, test, vi } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import { retention } from '../../../platform/jobs/retention.ts'
import { agingOf } from '../../../subgraphs/identity/stores/retention.ts'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'

const day = 86_400_000

/** Rows named after their age; those with an end ended so long ago. */
async function fill(graph: Supergraph, organizationId: string, userId: string, ages: Readonly<Record<string, number>>) {
  for (const [name, age] of Object.entries(ages)) {
    const at = graph.clock.in(-age)
    await graph.rows(`insert into identity.audit_entries (tenant_id, id, at, actor, action, subject_id) values ($1, $2, $4, 'platform', $3, $2)`, [
      organizationId,
      newId(at),
      name,
      at,
    ])
    await graph.rows(
      `insert into identity.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at) values ($1, 'user:1', 'API key', $2, 'h', $1, $3)`,
      [organizationId, name, at],
    )
    await graph.rows('insert into identity.sessions (id, expires_at, token, updated_at, user_id) values ($4, $2, $1, $2, $3)', [name, at, userId, newId(at)])
    for (const identifier of ['setup', 'setup person', 'another'])
      await graph.rows('insert into identity.verifications (id, identifier, value, expires_at) values ($1, $2, $3, $4)', [newId(at), identifier, name, at])
  }
}

/** What is left, by name. */
async function left(graph: Supergraph) {
  const names = async (column: string, table: string) =>
    (await graph.rows<{ name: string }>(`select ${column} as name from identity.${table} order by 1`)).map(({ name }) => name)
  return {
    audit: await names('action', 'audit_entries'),
    keys: await names('key', 'idempotency_keys'),
    sessions: await names('token', 'sessions'),
    verifications: await names(`identifier || ', ' || value`, 'verifications'),
  }
}

async function begin(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const [{ organization_id: organizationId } = { organization_id: '' }] = await graph.rows<{ organization_id: string }>(
    'select organization_id from identity.memberships limit 1',
  )
  // The record itself lets go of nothing that is not old.
  await graph.rows(`set session_replication_role = replica; delete from identity.audit_entries; set session_replication_role = origin`)
  await graph.rows('delete from identity.sessions')
  return { organizationId, userId: owner.userId! }
}

test('removes audit entries after their days, idempotency keys after a week, sessions and one-time values a day after their end', async () => {
  await using graph = await supergraph()
  const { organizationId, userId } = await begin(graph)
  await fill(graph, organizationId, userId, { ahead: -day, young: day, old: day + 1, oldest: 3 * day, week: 7 * day, 'over a week': 7 * day + 1 })
  const sweep = retention({ sequelize: graph.database.sequelize, clock: graph.clock }, agingOf({ auditDays: 2 }))
  await sweep.run()
  expect(await left(graph)).toEqual({
    audit: ['ahead', 'old', 'young'],
    keys: ['ahead', 'old', 'oldest', 'week', 'young'],
    sessions: ['ahead', 'young'],
    verifications: [
      'another, ahead',
      'another, young',
      'setup person, ahead',
      'setup person, old',
      'setup person, oldest',
      'setup person, over a week',
      'setup person, week',
      'setup person, young',
      'setup, ahead',
      'setup, young',
    ],
  })
})

test('identity removes old rows by itself after its start, and its readiness reports when it does not', async () => {
  await using graph = await supergraph()
  const { organizationId, userId } = await begin(graph)
  await fill(graph, organizationId, userId, { oldest: 401 * day, old: 399 * day })
  const { identity } = graph.platform
  await graph.clock.run(300_000)
  await expect.poll(() => left(graph)).toMatchObject({ audit: ['old'], sessions: [] })
  await identity.ready!()
  // The first round may still be under way when the time moves: it counts as of then.
  await vi.waitFor(async () => {
    await graph.clock.advance(80_000)
    await expect(identity.ready!()).rejects.toMatchObject({ name: 'NotReady', message: expect.stringContaining('what is old last went round') })
  }, 10_000)
})

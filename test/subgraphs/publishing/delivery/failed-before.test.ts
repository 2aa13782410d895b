import { expect, test } from 'vitest'
import { publishFailedBefore } from '../../../../subgraphs/publishing/delivery/failed-before.ts'
import { failure } from '../../../../subgraphs/publishing/delivery/failure.ts'
import { until } from '../../../kit/launch.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedPost } from '../post/seed.ts'

const list = '{ actionItems { nodes { kind subject { id } } } }'

test('creates action items for earlier failed posts at the next start, once; posts that no longer fail get none', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, brand } = await graph.seed.owner().brand()
  const place = { brandId: brand.id, owner }
  const now = graph.clock.now()
  const failed = await seedPost(graph, place, { row: { status: 'FAILED', ...failure('NO_CONNECTION', 'X', '', now) } })
  const unknown = await seedPost(graph, place, {
    row: { status: 'FAILED', deliveryPhase: 'UNKNOWN', attempts: 1, ...failure('OUTCOME_UNKNOWN', 'X', '', now) },
  })
  const mended = await seedPost(graph, place)
  // As the migration leaves them that made the list.
  for (const { id } of [failed, unknown, mended]) await graph.rows('insert into publishing.failed_before (brand_id, id) values ($1, $2)', [brand.id, id])
  await publishFailedBefore(() => graph.platform.publishing.job())
  const items = await until('the launcher was told', async () => {
    const { nodes } = (await graph.execute(list, {}, { as: owner })).data().actionItems
    return nodes.length === 2 && (nodes as { kind: string; subject: { id: string } }[])
  })
  expect(items.map(({ kind, subject }) => [kind, subject.id]).sort()).toEqual([
    ['OUTCOME_UNKNOWN', unknown.id],
    ['POST_FAILED', failed.id],
  ])
  await publishFailedBefore(() => graph.platform.publishing.job())
  expect(await graph.rows(`select kind from publishing.facts`)).toHaveLength(2)
  expect(await graph.rows('select from publishing.failed_before')).toEqual([])
})

test('the facts of a failed post’s change cost one statement, and a change without facts none', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, brand } = await graph.seed.owner().brand()
  const place = { brandId: brand.id, owner }
  const failed = await seedPost(graph, place, { row: { status: 'FAILED', ...failure('NO_CONNECTION', 'X', '', graph.clock.now()) } })
  const draft = await seedPost(graph, place)
  const reschedule = 'mutation($input: ReschedulePostInput!) { reschedulePost(input: $input) { status } }'
  const costs = async (id: string) => {
    const input = { id, scheduledAt: graph.clock.soon(3_600_000) }
    const sent = await graph.statements(async () => (await graph.execute(reschedule, { input }, { as: owner })).data())
    // What carries the fact afterwards, in the background, is not the change's.
    return sent.slice(0, sent.findIndex(text => text.startsWith('COMMIT')) + 1)
  }
  await costs((await seedPost(graph, place)).id)
  // In this order: nothing is carried in the background yet.
  const [untold, told] = [await costs(draft.id), await costs(failed.id)]
  expect(told.filter(text => text.includes('publishing.facts'))).toHaveLength(1)
  expect(told).toHaveLength(untold.length + 1)
})

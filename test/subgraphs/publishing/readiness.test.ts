import { expect, test } from 'vitest'
import { supergraph } from '../../kit/supergraph.ts'

test('readiness names each queue and each sweep of delivery that does not go round', async () => {
  await using graph = await supergraph()
  await graph.room.jobs.check()
  await graph.clock.advance(80_000)
  const said = await graph.room.jobs.check().catch((error: Error) => error.message)
  for (const name of ['deliver-post', 'overdue posts', 'interrupted calls', 'unknown outcomes', 'what is old'])
    expect(said).toContain(`${name} last went round`)
})

import { expect, test } from 'vitest'
import { supergraph } from '../kit/supergraph.ts'

/** What a process asks beside its jobs: the books of the migrations, every five seconds. */
const besides = 12

test('an idle platform sends fewer than eleven statements a second', async () => {
  await using graph = await supergraph({ sandbox: true })
  // The others were started with the graph.
  await graph.clock.run(1_000)
  // The test's clock writes its own time into the database.
  const sent = (await graph.statements(() => graph.clock.run(60_000))).filter(text => !/^UPDATE \S+clock/i.test(text.trim()))
  console.log(`idle: ${((sent.length + besides) / 60).toFixed(2)} statements a second`)
  expect((sent.length + besides) / 60).toBeLessThan(11)
})

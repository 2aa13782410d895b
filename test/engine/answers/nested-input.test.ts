import { expect, test } from 'vitest'
import { moved } from '../../differential/graphs/moved.ts'
import { testGraph } from '../supergraph-fixture.ts'

// For such a type the compiler of fetch documents writes code without end, which ends the process.
test('a variable of a recursive input type is read, however often the operation runs', async () => {
  const graph = testGraph(moved.parts)
  for (let time = 0; time < 5; time++) {
    const answer = await graph.run('query ($by: By!) { find(by: $by) { name plan } }', { by: { id: 'x1', deep: { deep: { names: ['a'] } } } })
    expect(answer.text).toBe('{"find":{"name":"Ada","plan":"PAID"}}')
  }
})

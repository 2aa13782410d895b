import { expect, test } from 'vitest'
import { openDoor } from '../kit/door.ts'
import { supergraph } from '../kit/supergraph.ts'

test('shows developers over HTTP how an operation was planned, subgraph by subgraph', async () => {
  await using graph = await supergraph({ running: { environment: 'development' } })
  await using door = await openDoor(graph)
  const query = '{ services { slug } __typename }'
  const show = { 'x-graphql-plan': 'show' }
  const { json } = await door.ask('POST', '/graphql', { body: { query }, headers: show })
  expect(json).toHaveProperty('data')
  expect(json.extensions).toEqual({ queryPlan: 'No subgraph is asked.' })
  const { json: anonymous } = await door.ask('POST', '/graphql', { body: { query: '{ viewer { kind } }' }, headers: show })
  expect(anonymous.extensions.queryPlan).toMatch(/^1\. identity, at once: query\n/)
  expect((await door.ask('POST', '/graphql', { body: { query } })).json).not.toHaveProperty('extensions')
})

test('ignores the header in other environments', async () => {
  await using graph = await supergraph()
  await using door = await openDoor(graph)
  const { json } = await door.ask('POST', '/graphql', { body: { query: '{ viewer { kind } }' }, headers: { 'x-graphql-plan': 'show' } })
  expect(json).toEqual({ data: { viewer: { kind: 'ANONYMOUS' } } })
})

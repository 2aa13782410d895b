import { expect, test } from 'vitest'
import { supergraph } from '../kit/supergraph.ts'
const query = `{ viewer { kind user { email } organization { name brands { nodes { id name connections { platform } } } } }
      posts(first: 50) { nodes { id status copy author { name } brand { name organization { name } } connection { platform } waitsFor { id } } pageInfo { hasNextPage } }
      widgets { app title payload { statistics { key value } } } }`
test.each([1,2])('x', async () => {
  let t = performance.now()
  await using graph = await supergraph({ sandbox: true })
  console.log('open', performance.now() - t); t = performance.now()
  const { owner, thread } = await graph.seed.owner().brand().connection().thread(5)
  console.log('seed', performance.now() - t); t = performance.now()
  const answer = (await graph.execute(query, {}, { as: owner })).data()
  console.log('q', performance.now() - t); t = performance.now()
  await graph.execute(query, {}, { as: owner })
  console.log('q', performance.now() - t); t = performance.now()
  const s = await graph.statements(() => graph.execute(query, {}, { as: owner }))
  console.log(s.length, s.map(x => x.replace(/\s+/g,' ').slice(0, 120)))
  console.log(JSON.stringify(answer).slice(0, 900))
  expect(thread.length).toBe(5)
  console.log(graph.log.filter(l => /"level":(40|50)/.test(l)))
  t = performance.now()
  await graph[Symbol.asyncDispose]()
  console.log('close', performance.now() - t)
})

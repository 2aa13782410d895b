import { ApolloServer } from '@apollo/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGateway, type RequestContext } from '../../router/engine/gateway.ts'
import { createChanging } from '../../router/engine/native/changing.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { library } from './library-graph.ts'
import { testGraph } from './supergraph-fixture.ts'

const seen: string[] = []
const graph = testGraph(library, {
  intercept(_fetch, call, next) {
    seen.push(`${call.viewer.kind} ${call.requestId}`)
    return next()
  },
})
const server = new ApolloServer<RequestContext>({ gateway: createGateway(graph.engine), stopOnTerminationSignals: false })

beforeAll(() => server.start())
afterAll(() => server.stop())

async function run(query: string, variables: Record<string, unknown> = {}, operationName?: string, of = server) {
  const contextValue: RequestContext = { viewer: anonymous, requestId: 'from-apollo' }
  const response = await of.executeOperation({ query, variables, ...(operationName && { operationName }) }, { contextValue })
  if (response.body.kind !== 'single') throw new Error('One result was expected')
  return JSON.parse(JSON.stringify(response.body.singleResult))
}

test('Apollo Server runs operations on the engine, with the viewer of its context', async () => {
  const query = 'query A { latest { body } } query B($id: ID!) { book(id: $id) { reviews { author { name } } } }'
  expect(await run(query, { id: 'b3' }, 'B')).toEqual({ data: { book: { reviews: [{ author: { name: 'Bob' } }] } } })
  expect(new Set(seen)).toEqual(new Set(['anonymous from-apollo']))
})

test('Apollo Server validates against the schema for clients and introspects it', async () => {
  expect((await run('{ nothing }')).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  const names = (await run('{ __schema { directives { name } } }')).data.__schema.directives.map(({ name }: { name: string }) => name)
  expect(names.sort()).toEqual(['defer', 'deprecated', 'include', 'oneOf', 'skip', 'specifiedBy', 'stream'])
})

test('errors of the engine pass Apollo Server with code, service and path', async () => {
  const result = await run('{ author(id: "a1") { n: nick } }')
  expect(result.data).toEqual({ author: { n: null } })
  expect(result.errors[0]).toMatchObject({ message: 'There is no nickname.', path: ['author', 'n'], extensions: { code: 'NOT_FOUND', service: 'authors' } })
  expect((await run('query ($id: ID!) { book(id: $id) { title } }', {})).errors[0].extensions.code).toBe('BAD_USER_INPUT')
})

test('S-12 Apollo Server validates by the present graph, also after a change', async () => {
  const engineOf = (field: string) => testGraph({ one: { sdl: `type Query { ${field}: Int }`, resolvers: { Query: { [field]: () => 1 } } } }).engine
  const engine = createChanging(engineOf('former'))
  const changing = new ApolloServer<RequestContext>({ gateway: createGateway(engine), stopOnTerminationSignals: false })
  await changing.start()
  const ask = (query: string) => run(query, {}, undefined, changing)
  expect(await ask('{ former }')).toEqual({ data: { former: 1 } })
  await engine.change(engineOf('present'))
  expect(await ask('{ present }')).toEqual({ data: { present: 1 } })
  expect((await ask('{ former }')).errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }])
  await changing.stop()
})

import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { shop } from './parts.ts'
import { remoteGraph } from './remote-graph.ts'

const graph = await remoteGraph(shop, { timeoutMs: 30_000 })
const { catalogue, stock } = graph.servers as Record<'catalogue' | 'stock', (typeof graph.servers)[string]>
afterAll(() => graph[Symbol.asyncDispose]())
beforeEach(() => {
  catalogue.fault = null
  stock.fault = null
  graph.logged.length = 0
})

const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`

/** Lets the stock answer for two products: the first has no count. */
const withErrors = (errors: string) => {
  stock.fault = (_request, response) => void response.end(`{"data":{"_entities":[{"count":null},{"count":2}]},"errors":${errors}}`)
}
const query = '{ products { name count } }'
const data = {
  products: [
    { name: 'Pen', count: null },
    { name: 'Paper', count: 2 },
  ],
}

describe('malformed errors keep the data, and are reported where possible:', () => {
  test.for<[string, string, number]>([
    ['no list', '"boom"', 0],
    ['an object', '{"message":"boom"}', 0],
    ['null', 'null', 0],
    ['an empty list', '[]', 0],
    ['a list of texts', '["boom"]', 2],
    ['numbers and lists', '[1,null,[],true]', 0],
    ['a path with a negative index', '[{"message":"m","path":["_entities",-1,"count"]}]', 2],
    ['a path with a fraction', '[{"message":"m","path":["_entities",0.5,"count"]}]', 2],
    ['a path with a huge index', '[{"message":"m","path":["_entities",1e300,"count"]}]', 2],
    ['a path of objects', '[{"message":"m","path":[{},[]]}]', 2],
    ['a path that is a text', '[{"message":"m","path":"_entities"}]', 2],
    ['an endless path', `[{"message":"m","path":["_entities",0,"count"${',1'.repeat(100_000)}]}]`, 2],
    ['a path through names that every object has', '[{"message":"m","path":["_entities",0,"__proto__","constructor"]}]', 1],
    ['a message that is none', '[{"message":{"a":1},"path":["_entities",0,"count"],"extensions":{"code":"CONFLICT"}}]', 1],
    ['extensions that are none', '[{"message":"m","path":["_entities",0,"count"],"extensions":"CONFLICT"}]', 1],
  ])('%s', async ([, errors, count]) => {
    withErrors(errors)
    const answer = await graph.run(query)
    expect(answer.data).toEqual(data)
    expect(answer.errors ?? []).toHaveLength(count)
    for (const { path } of answer.errors ?? []) {
      expect(path!.length).toBeLessThan(5)
      expect(path!.every(segment => typeof segment === 'string' || segment >= 0)).toBe(true)
    }
  })

  test('details that nest too deep to be written', async () => {
    withErrors(`[{"message":"No.","path":["_entities",0,"count"],"extensions":{"code":"CONFLICT","deep":${nested('[', ']', 900)}}}]`)
    const answer = await graph.run(query)
    expect(answer.data).toEqual(data)
    expect(answer.errors).toHaveLength(1)
  })

  test('a million errors', async () => {
    const error = '{"message":"m","path":["_entities",0,"count"]}'
    withErrors(`[${error}${`,${error}`.repeat(600_000)}]`)
    const began = process.threadCpuUsage()
    const answer = await graph.run(query)
    expect(answer.data).toEqual(data)
    expect(graph.logged.length).toBeLessThanOrEqual(200)
    // Processor time, so that what else the machine does is not counted.
    const { user, system } = process.threadCpuUsage(began)
    expect((user + system) / 1000).toBeLessThan(4000)
  })

  test('details named like members of every object', async () => {
    withErrors('[{"message":"No.","path":["_entities",0,"count"],"extensions":{"code":"CONFLICT","__proto__":{"polluted":true},"constructor":1}}]')
    expect((await graph.run(query)).errors![0]!.extensions).toMatchObject({ code: 'CONFLICT', service: 'stock' })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('data of wrong types fails its own fields only, the first time as well as later:', () => {
  test.for<[string, string, unknown]>([
    ['an object for a list', '{"id":"p1","name":"Pen"}', null],
    ['a text for a list', '"x"', null],
    ['a number for a list', '0', null],
    ['texts in a list of objects', '["x",{"id":"p1","name":"Pen"}]', null],
    ['lists in a list of objects', '[[{"id":"p1","name":"Pen"}]]', null],
    ['objects for values', '[{"id":{"a":1},"name":{"a":1}}]', [{ name: null }]],
    ['objects within objects', nested('{"a":', '}', 100_000), null],
    [
      'keys that stand twice, and names that every object has',
      '[{"__proto__":{"polluted":1},"constructor":1,"id":"1","id":"p1","name":"a","name":"b"}]',
      [{ name: 'b' }],
    ],
  ])('%s', async ([, products, expected]) => {
    catalogue.fault = (_request, response) => void response.end(`{"data":{"products":${products},"name":"catalogue"}}`)
    for (let turn = 0; turn < 5; turn++) {
      const answer = await graph.run('{ products { name count } name total }')
      expect(answer.data).toMatchObject({ products: expected, name: 'catalogue', total: 7 })
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test.for<[string, string]>([
    ['a text for the entities', '"x"'],
    ['an object for the entities', '{"0":{"count":1},"1":{"count":2},"length":2}'],
    ['null for the entities', 'null'],
    ['fewer entities than were asked for', '[{"count":1}]'],
    ['entities that are texts', '["x",{"count":2}]'],
    ['entities that are lists', '[[{"count":1}],{"count":2}]'],
  ])('%s, which is told', async ([, entities]) => {
    stock.fault = (_request, response) => void response.end(`{"data":{"_entities":${entities}}}`)
    for (let turn = 0; turn < 4; turn++) {
      const answer = await graph.run(query)
      expect(answer.data).toEqual({
        products: [
          { name: 'Pen', count: null },
          { name: 'Paper', count: null },
        ],
      })
      expect(answer.errors?.map(({ path, extensions }) => `${path?.join('.')} ${extensions?.code} ${extensions?.service}`)).toEqual([
        'products.0.count UPSTREAM_FAILED stock',
        'products.1.count UPSTREAM_FAILED stock',
      ])
    }
  })

  test('lists nested deeper than the stack', async () => {
    catalogue.fault = (_request, response) => void response.end(`{"data":{"products":${nested('[', ']', 100_000)}}}`)
    for (let turn = 0; turn < 5; turn++) {
      const answer = await graph.run(query)
      expect(answer.data?.products ?? null).toBeNull()
      expect(answer.errors?.length).toBeGreaterThan(0)
    }
  })

  test('an error of an entity that was not requested concerns all of them', async () => {
    stock.fault = (_request, response) =>
      void response.end('{"data":{"_entities":[{"count":null},{"count":null}]},"errors":[{"message":"m","path":["_entities",77,"count"]}]}')
    expect((await graph.run(query)).errors?.map(({ path }) => path?.join('.'))).toEqual(['products.0.count', 'products.1.count'])
  })

  test('more entities than requested', async () => {
    stock.fault = (_request, response) => void response.end('{"data":{"_entities":[{"count":1},{"count":2},{"count":3}]}}')
    expect((await graph.run(query)).data.products.map(({ count }: { count: number }) => count)).toEqual([1, 2])
  })
})

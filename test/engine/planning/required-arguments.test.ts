import { expect, test } from 'vitest'
import { tariffs } from '../../differential/graphs/tariffs.ts'
import { testGraph } from '../supergraph-fixture.ts'

const graph = testGraph(tariffs.parts)

const data = async (source: string) => {
  const answer = await graph.run(source)
  expect(answer.errors).toBeUndefined()
  return answer.text
}

test('two requirements with different arguments for fields of two other subgraphs get a value each', async () => {
  expect(await data('{ parcel(id: 1) { home abroad } }')).toBe('{"parcel":{"home":"home 1 kg for 1 EUR","abroad":"abroad 1 lb for 1 USD"}}')
  expect(await data('{ parcel(id: 1) { abroad home } }')).toBe('{"parcel":{"abroad":"abroad 1 lb for 1 USD","home":"home 1 kg for 1 EUR"}}')
})

test('a requirement without arguments gets the value without any', async () => {
  expect(await data('{ parcel(id: 1) { home inland } }')).toBe('{"parcel":{"home":"home 1 kg for 1 EUR","inland":"inland 1 g for 1 -"}}')
  expect(await data('{ parcel(id: 1) { inland weight abroad home contains { abroad inland } } }')).toBe(
    '{"parcel":{"inland":"inland 1 g for 1 -","weight":"1 g","abroad":"abroad 1 lb for 1 USD","home":"home 1 kg for 1 EUR","contains":{"abroad":"abroad 2 lb for 2 USD","inland":"inland 2 g for 2 -"}}}',
  )
})

test('a client’s selection with arguments of its own stands beside them', async () => {
  expect(await data('{ parcel(id: 1) { home weight abroad w: weight(unit: "lb") price(currency: "EUR") } }')).toBe(
    '{"parcel":{"home":"home 1 kg for 1 EUR","weight":"1 g","abroad":"abroad 1 lb for 1 USD","w":"1 lb","price":"1 EUR"}}',
  )
})

// The planner says of the inner entity that both requirements are met by one field.
test('an entity below one of its own type gets its requirements with its own arguments', async () => {
  expect(await data('{ parcel(id: 1) { home contains { abroad home } } }')).toBe(
    '{"parcel":{"home":"home 1 kg for 1 EUR","contains":{"abroad":"abroad 2 lb for 2 USD","home":"home 2 kg for 2 EUR"}}}',
  )
  expect(await data('{ parcel(id: 1) { contains { home abroad } abroad home } }')).toBe(
    '{"parcel":{"contains":{"home":"home 2 kg for 2 EUR","abroad":"abroad 2 lb for 2 USD"},"abroad":"abroad 1 lb for 1 USD","home":"home 1 kg for 1 EUR"}}',
  )
})

test('rejects fields that the planner fetches together although their requirements differ', async () => {
  const source = `{ parcel(id: 2) {
    price(currency: "JPY") greeting contains { one: home volume w: weight k: id } home
    contains { greeting contains { home price(currency: "EUR") k: price id greeting } home abroad: home } x: abroad id contains { home k: id }
  } }`
  const answer = await graph.run(source)
  const wanted = { home: 'home 2 kg for 2 EUR', x: 'abroad 2 lb for 2 USD' }
  // A planner that asks them apart is welcome.
  if (answer.data) expect(answer.data.parcel).toMatchObject(wanted)
  else expect(graph.logged.map(line => String(line.err)).at(-1)).toContain('with different arguments')
})

test('two types of one list get their requirements with the arguments of each', async () => {
  const typeOf = { __resolveType: ({ __typename }: { __typename: string }) => __typename }
  const weight = ({ id }: { id: string }, { unit }: { unit?: string }) => `${id} ${unit ?? 'g'}`
  const things = () => ['Box', 'Bag'].map(__typename => ({ __typename, id: __typename }))
  const same = { __resolveReference: (reference: unknown) => reference }
  const mixed = testGraph({
    things: {
      sdl: `type Query { things: [Thing] } union Thing = Box | Bag
        type Box @key(fields: "id") { id: ID! weight(unit: String): String } type Bag @key(fields: "id") { id: ID! weight(unit: String): String }`,
      resolvers: { Query: { things }, Thing: typeOf, Box: { weight }, Bag: { weight } },
    },
    tariffs: {
      sdl: `type Box @key(fields: "id") { id: ID! weight(unit: String): String @external cost: String @requires(fields: "weight(unit: \\"kg\\")") }
        type Bag @key(fields: "id") { id: ID! weight(unit: String): String @external cost: String @requires(fields: "weight(unit: \\"lb\\")") }`,
      resolvers: {
        Box: { ...same, cost: (given: { weight: string }) => `box ${given.weight}` },
        Bag: { ...same, cost: (given: { weight: string }) => `bag ${given.weight}` },
      },
    },
  })
  const answer = await mixed.run('{ things { ... on Box { cost } ... on Bag { cost weight } } }')
  expect(answer.errors).toBeUndefined()
  expect(answer.text).toBe('{"things":[{"cost":"box Box kg"},{"cost":"bag Bag lb","weight":"Bag g"}]}')
})

test('renames nothing where a field is required with one set of arguments only', async () => {
  const before = graph.sent.length
  await data('{ parcels { home } }')
  expect(graph.sent.slice(before).map(({ text }) => text)).toEqual([
    '{parcels{id weight(unit:"kg")}}',
    expect.stringContaining('price(currency: "EUR")'),
    expect.stringContaining('{home}'),
  ])
})

import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { findOperation } from '../../../router/engine/operation/operation.ts'
import { plannable } from '../../../router/engine/plan/plannable.ts'
import { createNames } from '../../../router/engine/repairs/hive-response-keys/names.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { library } from '../library-graph.ts'
import { compose, testGraph } from '../supergraph-fixture.ts'

const graph = testGraph(library)

const data = async (source: string, variables?: Record<string, unknown>) => {
  const answer = await graph.run(source, variables)
  expect(answer.errors).toBeUndefined()
  return answer.text
}

// Trap 5: a type name more changes which subgraph the planner chooses.
test('the planner gets no __typename that the client did not select', () => {
  const texts = (source: string) => {
    const operation = findOperation(parse(source), undefined)
    if (typeof operation === 'string') throw new Error(operation)
    const supergraph = readSupergraph(compose(library))
    return plannable(operation, createNames(supergraph), supergraph)
  }
  expect(texts('{ nodes { id ... on Book { title } } found { ... on Author { name } } }').join()).not.toContain('__typename')
  // Where nothing else is left it stands for the object itself.
  expect(texts('{ nodes { tn: __typename } }')).toEqual(['{\n  nodes {\n    __typename\n  }\n}'])
})

// Trap 1: unrenamed, this ends the process inside the planner.
test('an alias equal to a key field on a composite field, beside a field of another subgraph, is answered', async () => {
  expect(await data('{ latest { book { id: writers { __typename } title reviews { body } } } }')).toBe(
    '{"latest":{"book":{"id":[{"__typename":"Author"},{"__typename":"Author"}],"title":"Three","reviews":[{"body":"fine"}]}}}',
  )
})

test('an alias equal to a key field does not change which entity is fetched', async () => {
  expect(await data('{ books(first: 1) { id: title reviews { id: body author { id: name } } } }')).toBe(
    '{"books":[{"id":"One","reviews":[{"id":"good","author":{"id":"Bob"}},{"id":"bad","author":{"id":"Ada"}}]}]}',
  )
})

test('swapped names beside a required field are answered with the right values', async () => {
  expect(await data('{ book(id: "b1") { weight: cost cost: weight postage } }')).toBe('{"book":{"weight":10,"cost":100,"postage":1100}}')
})

// Trap 2.
test('an alias that equals the field’s name and the field without alias are one field', async () => {
  expect(await data('{ book(id: "b3") { reviews: reviews { body } reviews { stars } } }')).toBe('{"book":{"reviews":[{"body":"fine","stars":3}]}}')
})

// Trap 3.
test('__typename under any alias returns the runtime type', async () => {
  expect(await data('{ nodes { tn: __typename } found { id: __typename ... on Book { title: __typename } } }')).toBe(
    '{"nodes":[{"tn":"Author"},{"tn":"Book"},{"tn":"Book"}],"found":[{"id":"Book","title":"Book"},{"id":"Author"},null,{"id":"Review"},{"id":"Author"},{"id":"Book","title":"Book"}]}',
  )
})

// Trap 21.
test('names of prototype members and of the planner are ordinary aliases', async () => {
  const text = await data(
    '{ book(id: "b1") { __proto__: title constructor: id toString: weight _entities: title _e0: title _internal_qp_alias_0: cost(in: CENT) postage } __proto__: latest { body } }',
  )
  expect(text).toBe(
    '{"book":{"__proto__":"One","constructor":"b1","toString":100,"_entities":"One","_e0":"One","_internal_qp_alias_0":1000,"postage":1100},"__proto__":{"body":"fine"}}',
  )
})

// Trap 9.
test('variables may be named like those of entity fetches', async () => {
  const source = `query ($representations: Int, $__batch_reps_0: ID!, $v_x: WriteTransaction) {
    book(id: $__batch_reps_0) { cost(in: $v_x) reviews(atLeast: $representations) { body } }
    other: book(id: "b3") { reviews(atLeast: $representations) { body } }
  }`
  expect(await data(source, { representations: 2, __batch_reps_0: 'b1', v_x: 'CENT' })).toBe(
    '{"book":{"cost":1000,"reviews":[{"body":"good"}]},"other":{"reviews":[{"body":"fine"}]}}',
  )
})

test('an absent variable stays absent and an explicit null stays null', async () => {
  expect(await data('query ($i: Echo) { echo(input: $i) }', {})).toBe('{"echo":"null"}')
  expect(await data('query ($t: String) { echo(input: {text: $t}) }', {})).toBe(String.raw`{"echo":"{\"text\":\"none\"}"}`)
  expect(await data('query ($t: String) { echo(input: {text: $t}) }', { t: null })).toBe(String.raw`{"echo":"{\"text\":null}"}`)
})

test('arguments in another order or object fields in another order are the same field', async () => {
  expect(await data('{ e: echo(input: {text: "a", numbers: [1]}) ... on Query { e: echo(input: {numbers: [1], text: "a"}) } }')).toBe(
    String.raw`{"e":"{\"text\":\"a\",\"numbers\":[1]}"}`,
  )
})

// Trap 4: one subgraph types `code` differently on two types that look alike to clients.
test('fields whose nullability differs between subgraphs may stand side by side below fragments', async () => {
  const mixed = testGraph({
    one: {
      sdl: `type Query { things: [Thing] } union Thing = A | B type A { kid: Kid } type B { kid: Kid } union Kid = X | Y
        type X @key(fields: "k") { k: ID! code: String! @shareable } type Y @key(fields: "k") { k: ID! code: String @shareable }`,
      resolvers: {
        Query: {
          things: () => [
            { __typename: 'A', kid: { __typename: 'X', k: 1, code: 'x' } },
            { __typename: 'B', kid: { __typename: 'Y', k: 2, code: null } },
          ],
        },
      },
    },
    two: { sdl: 'type X @key(fields: "k") { k: ID! code: String @shareable more: Int } type Query { x: Int }', resolvers: { X: { more: () => 1 } } },
  })
  const answer = await mixed.run('{ things { ... on A { kid { ... on X { code more } } } ... on B { kid { ... on Y { code } } } } }')
  expect(answer).toEqual({ data: { things: [{ kid: { code: 'x', more: 1 } }, { kid: { code: null } }] }, text: expect.any(String) })
})

// Trap 14.
test('plans a redundant fragment as if it were not there', async () => {
  const before = graph.sent.length
  expect(await data('{ nodes { ... on Node { ... on Node { ... on Book { ... on Node { ... on Book { title } } } } } } }')).toBe(
    '{"nodes":[{},{"title":"Two"},{"title":"One"}]}',
  )
  expect(graph.sent.slice(before).map(sent => sent.text)).toEqual(['{nodes{__typename ...on Book{title}}}'])
})

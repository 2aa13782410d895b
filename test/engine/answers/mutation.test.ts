import { expect, test } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { type GraphOptions, type Part, testGraph } from '../supergraph-fixture.ts'

function counters(options: GraphOptions = {}) {
  const log: string[] = []
  let opened = 0
  const state = { a: 0, b: 0 }
  const bump = (name: 'a' | 'b') => async () => {
    log.push(`start ${name}`)
    await new Promise(setImmediate)
    state[name]++
    log.push(`end ${name}`)
    return { id: name }
  }
  const part = (name: 'a' | 'b'): Part => ({
    sdl: `type Query { ${name}: Counter } type Mutation { bump${name}: Counter fail${name}: Counter }
      type Counter @key(fields: "id") { id: ID! ${name}Count: Int ${name}Context: Int }`,
    open: () => ({ number: ++opened }),
    resolvers: {
      Mutation: {
        [`bump${name}`]: bump(name),
        [`fail${name}`]: () => {
          log.push(`fail ${name}`)
          throw new DomainError('CONFLICT', 'No.')
        },
      },
      Counter: {
        [`${name}Count`]: () => {
          log.push(`read ${name}`)
          return state[name]
        },
        [`${name}Context`]: (_: unknown, __: unknown, context: { number: number }) => context.number,
        __resolveReference: (reference: unknown) => reference,
      },
    },
  })
  return { graph: testGraph({ a: part('a'), b: part('b') }, options), log }
}

test('root fields of a mutation run one after the other in the written order, each with all its fields', async () => {
  const { graph, log } = counters()
  const answer = await graph.run('mutation { one: bumpa { bCount } bumpb { aCount } two: bumpa { aCount bCount } ... on Mutation { one: bumpa { aCount } } }')
  expect(answer.text).toBe('{"one":{"bCount":0,"aCount":1},"bumpb":{"aCount":1},"two":{"aCount":2,"bCount":1}}')
  expect(log).toEqual(['start a', 'end a', 'read a', 'read b', 'start b', 'end b', 'read a', 'start a', 'end a', 'read a', 'read b'])
})

test('a failed root field does not keep the next one from running', async () => {
  const { graph, log } = counters()
  const answer = await graph.run('mutation { faila { id } bumpb { bCount } }')
  expect(answer.text).toBe('{"faila":null,"bumpb":{"bCount":1}}')
  expect(log[0]).toBe('fail a')
})

test('reads after a mutation use a fresh context', async () => {
  const { graph } = counters()
  const answer = await graph.run('mutation { one: bumpa { aContext bContext } two: bumpa { aContext bContext } }')
  const { one, two } = answer.data
  expect(new Set([one.aContext, one.bContext, two.aContext, two.bContext]).size).toBe(4)
})

test('when the caller leaves, root fields that have not begun do not run', async () => {
  const controller = new AbortController()
  const { graph, log } = counters({
    async intercept(_fetch, _call, next) {
      const result = await next()
      controller.abort()
      return result
    },
  })
  await graph.run('mutation { bumpa { id } bumpb { id } }', {}, { signal: controller.signal })
  await new Promise(setImmediate)
  expect(log).toEqual(['start a', 'end a'])
})

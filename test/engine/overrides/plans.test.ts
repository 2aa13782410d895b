import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../../router/engine/engine.ts'
import { overriding } from '../../../router/engine/native/overriding.ts'
import { openPlanning } from '../../../router/engine/plan/apart/planning.ts'
import { openApolloPlanner } from '../../../router/engine/plan/apollo.ts'
import { askHere } from '../../../router/engine/plan/plan-text.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { randomOperation } from '../random-operation.ts'
import { answerOf, compose, pathsOf, type TestGraph, testGraph } from '../supergraph-fixture.ts'
import { type Label, labels, movingGraph } from './graph.ts'

const labelled = testGraph(movingGraph('labelled'))
const { overrides } = readSupergraph(compose(movingGraph('labelled')))

/** The engine as if the given labels were active for every request. */
const activeIn = (engine: Engine, active: ReadonlySet<string>): Engine =>
  overriding(engine, { labels: overrides!, decide: () => ({ isActive: label => active.has(label) }) })

const decided = new Map<string, TestGraph>()
/** The graph in which the override of each active label has no label, and that of every other one is not there yet. */
function graphOf(active: ReadonlySet<Label>): TestGraph {
  const key = [...active].sort().join()
  const graph = decided.get(key) ?? testGraph(movingGraph(active))
  decided.set(key, graph)
  return graph
}
const setOf = (bits: number): ReadonlySet<Label> => new Set(labels.filter((_, index) => bits & (1 << index)))

async function compare(engine: Engine, active: ReadonlySet<Label>, source: string, variables: Record<string, unknown> = {}): Promise<void> {
  const request = { document: parse(source), variables, viewer: anonymous, requestId: 'request-1' }
  const expected = await graphOf(active).run(source, variables)
  const actual = answerOf(await activeIn(engine, active).execute(request))
  const about = `${[...active].join()}\n${source}\n${JSON.stringify(variables)}\n${JSON.stringify(actual.errors)}`
  expect(actual.text, about).toBe(expected.text)
  expect(pathsOf(actual), about).toEqual(pathsOf(expected))
}

const everything = `{ total named { id name } best { name price(first: 2) size { w h } owner { name items { name stock } } shared cost }
  found { ... on Item { name shared cost } ... on Owner { name items(first: 1) { size { h } parts { name } } } } }`

describe('labelled overrides', () => {
  it('reads every label of the supergraph', () => {
    expect(overrides!.all).toEqual(labels)
  })

  it('answers as without labels, for every set of active labels', { timeout: 60_000 }, async () => {
    for (let bits = 0; bits < 2 ** labels.length; bits++) {
      await compare(labelled.engine, setOf(bits), everything)
      await compare(labelled.engine, setOf(bits), 'mutation { touch(id: "b1") { id name stock } again: touch(id: "b2") { owner { name } } }')
    }
  })

  it('answers random operations as without labels, for random sets of active labels', { timeout: 120_000 }, async () => {
    let compared = 0
    const runs = Number(process.env.RUNS ?? 60)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 200 }), fc.nat({ max: 15 }), async (choices, bits) => {
        const { source, variables } = randomOperation(labelled.schema, choices)
        if (validate(labelled.schema, parse(source)).length > 0) return
        compared++
        await compare(labelled.engine, setOf(bits), source, variables)
      }),
      { seed: Number(process.env.SEED ?? 20_260_101), numRuns: runs },
    )
    expect(compared).toBeGreaterThan(runs / 2)
  })

  it('moves the same fields with the second planner', { timeout: 60_000 }, async () => {
    const second = openApolloPlanner(readSupergraph(compose(movingGraph('labelled'))))
    const ask = askHere(async (text, active) => (await second)(text, active))
    const graph = testGraph(movingGraph('labelled'), {
      planTexts: () => async (texts, askers, active) =>
        (await ask(texts, askers, active)).map(made => {
          if ('failed' in made) throw new Error(made.failed)
          return made.plan
        }),
    })
    const source = '{ total best { name price(first: 2) size { w h } owner { name } } owner(id: "a1") { items { stock } } }'
    for (let bits = 0; bits < 2 ** labels.length; bits++) await compare(graph.engine, setOf(bits), source)
  })

  it('moves the same fields with planners in processes of their own, equal texts under several labels at once', { timeout: 60_000 }, async () => {
    const planning = openPlanning({ sdl: compose(movingGraph('labelled')) }, { planMs: 60_000, timeoutMs: 60_000, log: { warn: () => {} } })
    const graph = testGraph(movingGraph('labelled'), { planTexts: () => planning.planTexts })
    try {
      await Promise.all(Array.from({ length: 16 }, (_, bits) => compare(graph.engine, setOf(bits), everything)))
    } finally {
      await planning.close()
    }
  })
})

describe('the plan cache', () => {
  it('keeps one plan for each set of active labels that the operation touches', async () => {
    const { engine } = testGraph(movingGraph('labelled'))
    const misses = async (source: string, ...active: Label[]) => {
      const before = engine.plans!().misses
      await activeIn(engine, new Set(active)).execute({ document: parse(source), viewer: anonymous, requestId: 'request-1' })
      return engine.plans!().misses - before
    }
    expect(await misses('{ best { price } }')).toBe(1)
    expect(await misses('{ best { price } }', 'one')).toBe(0)
    expect(await misses('{ best { price } }', 'one', 'percent(25)')).toBe(1)
    expect(await misses('{ best { price } }', 'percent(5.5)', 'percent(25)')).toBe(0)
    // `name` is a field of an interface, whose implementations have two labels.
    expect(await misses('{ named { name } }')).toBe(1)
    expect(await misses('{ named { name } }', 'two/x')).toBe(1)
    expect(await misses('{ named { name } }', 'one')).toBe(1)
  })

  it('counts a label as touched by every operation when a key or a requirement names its field', () => {
    const required = compose({
      a: { sdl: 'type Query { item: Item } type Item @key(fields: "id") { id: ID! word: String @shareable }' },
      b: { sdl: 'type Item @key(fields: "id") { id: ID! word: String @shareable @override(from: "a", label: "hidden") }' },
      c: { sdl: 'type Item @key(fields: "id") { id: ID! word: String @shareable }' },
      d: { sdl: 'type Item @key(fields: "id") { id: ID! word: String @external loud: String @requires(fields: "word") }' },
    })
    expect(readSupergraph(required).overrides!.touchedBy(parse('{ item { loud } }'))).toEqual(['hidden'])
    expect(overrides!.touchedBy(parse('{ best { id cost } }'))).toEqual([])
  })

  it('finds no labels in a graph whose overrides have none', () => {
    expect(readSupergraph(compose(movingGraph(new Set(labels)))).overrides).toBeNull()
  })
})

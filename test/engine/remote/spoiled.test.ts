import { expect, test } from 'vitest'
import { library } from '../library-graph.ts'
import { randomOperation } from '../random-operation.ts'
import { testGraph } from '../supergraph-fixture.ts'

const seed = Number(process.env.SEED ?? 20261122)
console.log(`spoiled answers: seed ${seed}`)
let state = seed
/** The same numbers for the same seed (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!

const junk = [
  ...['null', '[]', '{}', '"x"', '""', '0', '-1', '1.5', 'true', '[[]]', '[null]', '["x"]', '{"id":{}}', '{"__proto__":{"polluted":1}}'],
  ...['{"__typename":"Book"}', '{"__typename":"constructor"}', '{"__typename":5}', '{"__typename":"Query"}', '[[{"__typename":"Book","id":"b1"}]]'],
]
const paths: readonly unknown[] = [
  undefined,
  [],
  'x',
  [{}],
  [1, 2],
  ['__proto__'],
  ['_entities', 0],
  ['_entities', -1],
  ['_entities', 'x'],
  ['_entities', 0, 'id', 0],
]
const errors = (): unknown =>
  pick<unknown>([
    'x',
    {},
    null,
    [],
    [{}],
    [null],
    [{ message: 'm', path: pick(paths) }],
    [{ message: 'n', path: pick(paths), extensions: pick<unknown>([1, null, []]) }],
  ])

/** A value some of whose parts are others, are missing, or are there twice. */
function spoiled(value: unknown, rate: number): unknown {
  if (random() < rate) return JSON.parse(pick(junk))
  if (Array.isArray(value)) {
    const list = value.map(item => spoiled(item, rate))
    if (random() < rate) list.pop()
    if (random() < rate) list.push(JSON.parse(pick(junk)))
    return list
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (random() < rate / 4 ? [] : [[key, spoiled(inner, rate)]])))
}

test(`answers every operation whatever subgraphs answer, the first time as well as later (SEED=${seed})`, async () => {
  let rate = 0
  const graph = testGraph(library, {
    unvalidatedFetches: true,
    async intercept(_fetch, _call, next) {
      const result: unknown = spoiled(JSON.parse(JSON.stringify(await next())), rate)
      return (random() < rate && typeof result === 'object' ? { ...result, errors: errors() } : result) as never
    },
  })
  let flawed = 0
  for (let turn = 0; turn < 400; turn++) {
    rate = pick([0.02, 0.1, 0.3])
    const { source, variables } = randomOperation(
      graph.schema,
      Array.from({ length: 120 }, () => Math.floor(random() * 1000)),
    )
    for (let again = 0; again < 4; again++) {
      const { data, errors } = await graph.run(source, variables, { unchecked: true })
      expect(data !== undefined || errors !== undefined, source).toBe(true)
      if (errors) flawed++
    }
  }
  expect(flawed).toBeGreaterThan(400)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
}, 60_000)

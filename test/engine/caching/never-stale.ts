import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect } from 'vitest'
import { label, type ResponseCache } from '../../../router/engine/transport/cache/store.ts'
import type { Part } from '../supergraph-fixture.ts'
import { type CachedGraph, cacheControl, cachedGraph } from './graph.ts'

const ids = ['1', '2', '3']
const viewers = ['ann', 'bob', '']

/** Things with a version, that wait for some turns before and after they read it. */
function things(turns: () => number) {
  const versions: Record<string, number> = { 1: 0, 2: 0, 3: 0 }
  const wait = async () => {
    for (let count = turns(); count > 0; count--) await turn()
  }
  const read = async (id: string) => {
    await wait()
    const version = versions[id]
    await wait()
    return version
  }
  const a: Part = {
    sdl: `${cacheControl}
      type Query { things: [Thing] @cacheControl(maxAge: 60) thing(id: ID!): Thing @cacheControl(maxAge: 60) mine: String @cacheControl(maxAge: 60, scope: PRIVATE) }
      type Mutation { touch(id: ID!): Int fail(id: ID!): Int! }
      type Thing @key(fields: "id") @cacheControl(maxAge: 60) { id: ID! version: Int }`,
    resolvers: {
      Query: {
        things: () => ids.map(id => ({ id })),
        thing: (_: unknown, { id }: { id: string }) => ({ id }),
        mine: async (_: unknown, __: unknown, { who }: { who: string }) => {
          await wait()
          return who
        },
      },
      Mutation: {
        async touch(_: unknown, { id }: { id: string }) {
          await wait()
          versions[id]! += 1
          const own = versions[id]
          await wait()
          return own
        },
        async fail(_: unknown, { id }: { id: string }) {
          versions[id]! += 1
          await wait()
          throw new Error('fails after it has changed something')
        },
      },
      Thing: { version: ({ id }: { id: string }) => read(id) },
    },
  }
  const b: Part = { sdl: 'type Thing @key(fields: "id") { id: ID! seen: Int }', resolvers: { Thing: { seen: ({ id }: { id: string }) => read(id) } } }
  return { versions, parts: { a, b } }
}

const step = fc.record({
  router: fc.nat({ max: 1 }),
  kind: fc.constantFrom('one', 'one', 'all', 'all', 'across', 'mine', 'touch', 'fail', 'behind', 'renew'),
  id: fc.constantFrom(...ids),
  who: fc.constantFrom(...viewers),
})

/** What a check of two routers takes. */
export interface TwoRouters {
  readonly caches: readonly [ResponseCache, ResponseCache]
  /** Waits until each has dropped what the other one has. @default both drop at once */
  inStep?(): Promise<void>
  readonly runs: number
}

/**
 * Sends random reads and writes through two routers: no answer is older than the last announced change, and none is of
 * another viewer. Where routers drop one after the other, a change counts as announced to the other one once both are in
 * step, and to its own at once.
 * @returns how often answers had each state
 */
export async function checkNeverStale({ caches, inStep, runs }: TwoRouters): Promise<Record<string, number>> {
  let [at, delays] = [0, [0]]
  const { versions, parts } = things(() => delays[at++ % delays.length]!)
  await using first = await cachedGraph(parts, { cache: caches[0], dropsOnMutation: true })
  await using second = await cachedGraph(parts, { cache: caches[1], dropsOnMutation: true })
  for (const { servers } of [first, second]) for (const server of Object.values(servers)) server.context = headers => ({ who: headers['x-who'] ?? 'nobody' })
  const routers: readonly CachedGraph[] = [first, second]
  const states: Record<string, number> = {}
  /** Version of each thing at the last change that was announced, for each router. */
  const announced: readonly Record<string, number>[] = [{ ...versions }, { ...versions }]
  const announce = (router: number, id: string, version: number) => {
    for (const each of inStep ? [announced[router]!] : announced) each[id] = Math.max(each[id]!, version)
  }

  const perform = async ({ router, kind, id, who }: { router: number; kind: string; id: string; who: string }) => {
    const graph = routers[router]!
    const headers: Record<string, string> = { ...(who && { 'x-who': who }), ...(kind === 'renew' && { 'cache-control': 'no-cache' }) }
    if (kind === 'touch' || kind === 'fail') {
      const before = versions[id]!
      const { data } = await graph.run(`mutation { ${kind}(id: "${id}") }`, { headers })
      return announce(router, id, data?.touch ?? before + 1)
    }
    if (kind === 'behind') {
      versions[id]! += 1
      const version = versions[id]!
      graph.cache.drop([label.type('a', 'Thing'), label.type('b', 'Thing')], 'request')
      await graph.cache.settled()
      return announce(router, id, version)
    }
    const expected = { ...announced[router] }
    const query = {
      one: `{ thing(id: "${id}") { id version } }`,
      renew: `{ thing(id: "${id}") { id version } }`,
      all: '{ things { id version } mine }',
      across: `{ thing(id: "${id}") { id version seen } }`,
      mine: '{ mine }',
    }[kind]!
    const { data, state } = await graph.run(query, { headers })
    states[state!] = (states[state!] ?? 0) + 1
    for (const each of data.things ?? [data.thing].filter(Boolean)) {
      expect(each.version).toBeGreaterThanOrEqual(expected[each.id]!)
    }
    if (data.mine !== undefined) expect(data.mine).toBe(who || 'nobody')
  }

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 4, maxLength: 12 }),
      fc.array(fc.nat({ max: 4 }), { minLength: 3, maxLength: 20 }),
      async (waves, waits) => {
        ;[at, delays] = [0, waits]
        for (const wave of waves) {
          await Promise.all(wave.map(perform))
          if (!inStep) continue
          await inStep()
          for (const each of announced) Object.assign(each, versions)
        }
      },
    ),
    { seed: Number(process.env.SEED ?? 20_261_128), numRuns: Number(process.env.RUNS ?? runs) },
  )
  return states
}

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type MapChild, progressOf } from '../../../subgraphs/agents/engines/map/progress.ts'

/** How the run of an item ends in the first attempt and in later ones; `nothing`: its arguments name nothing. */
type Fate = 'succeeds' | 'fails' | 'is cancelled' | 'fails once' | 'nothing'

const fates = fc.array(fc.constantFrom<Fate>('succeeds', 'succeeds', 'succeeds', 'fails', 'is cancelled', 'fails once', 'nothing'), { maxLength: 12 })

/** How often the long form of this test runs: `LIST_RUNS=100000`. */
const numRuns = Number(process.env.LIST_RUNS ?? 500)

it('begins items in their order, never more than it may, none that succeeded twice, and ends as a list worked off by hand', () => {
  fc.assert(
    fc.property(
      fates,
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('STOP' as const, 'SKIP' as const),
      fc.integer({ min: 1, max: 3 }),
      fc.infiniteStream(fc.nat(100)),
      (list, concurrency, onItemFailure, attempts, choices) => {
        const runs = new Map<number, MapChild>()
        const succeeded: number[] = []
        const endOf = (fate: Fate, attempt: number): MapChild['status'] =>
          fate === 'succeeds' || (fate === 'fails once' && attempt > 1) ? 'SUCCEEDED' : fate === 'is cancelled' ? 'CANCELLED' : 'FAILED'
        for (let attempt = 1; attempt <= attempts; attempt += 1) {
          let before = -1
          for (;;) {
            const inputOf = (index: number) => (list[index] === 'nothing' ? undefined : { index })
            const look = () => progressOf({ onItemFailure, concurrency }, { length: list.length, attempt }, { runs: [...runs.values()] }, inputOf)
            const { begin, isOver, hasFailed } = look()
            for (const { index, input } of begin) {
              expect(input).toEqual({ index })
              expect(index).toBeGreaterThan(before)
              expect(runs.get(index)?.status).not.toBe('SUCCEEDED')
              before = index
              runs.set(index, { itemIndex: index, status: 'RUNNING', attempt })
            }
            // Looked at once more, it begins nothing again.
            expect(look().begin).toEqual([])
            const underWay = [...runs.values()].filter(({ status }) => status === 'RUNNING')
            expect(underWay.length).toBeLessThanOrEqual(concurrency)
            expect(isOver).toBe(underWay.length === 0)
            if (isOver) {
              const bad = list.map((fate, index) => ({ fate, index })).filter(({ fate }) => fate === 'nothing' || endOf(fate, attempt) !== 'SUCCEEDED')
              expect(hasFailed).toBe(bad.length > 0)
              const worked = list.flatMap((fate, index) => (fate !== 'nothing' && runs.has(index) ? [index] : []))
              if (onItemFailure === 'SKIP' || bad.length === 0) expect(worked).toEqual(list.flatMap((fate, index) => (fate === 'nothing' ? [] : [index])))
              // What lies behind the first failure began only while that failure was not known.
              else if (concurrency === 1 && attempt === 1)
                expect(worked).toEqual(list.flatMap((fate, index) => (index < bad[0]!.index || (index === bad[0]!.index && fate !== 'nothing') ? [index] : [])))
              break
            }
            const ended = underWay[choices.next().value! % underWay.length]!
            const status = endOf(list[ended.itemIndex]!, attempt)
            if (status === 'SUCCEEDED') succeeded.push(ended.itemIndex)
            runs.set(ended.itemIndex, { ...ended, status })
          }
        }
        expect(new Set(succeeded).size).toBe(succeeded.length)
      },
    ),
    { numRuns },
  )
})

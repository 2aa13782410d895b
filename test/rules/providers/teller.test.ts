import { expect, test } from 'vitest'
import { createBatchWriter } from '../../../subgraphs/providers/engines/spend/batch-writer.ts'

const turn = () => new Promise(resolve => setImmediate(resolve))

/** A teller, and what it did together. */
function counter(fail: (entries: readonly string[]) => unknown = () => undefined) {
  const done: string[] = []
  const batchWriter = createBatchWriter<string, string>(async entries => {
    done.push(entries.join(' '))
    await turn()
    const cause = fail(entries)
    if (cause) throw cause
    return entries.map(entry => entry.toUpperCase())
  })
  return { batchWriter, done }
}
const ofDatabase = (code: string) => Object.assign(new Error(code), { parent: { code } })

test('writes entries that arrive during a write together, in order, each with its own result', async () => {
  const { batchWriter, done } = counter()
  const first = batchWriter.do('lane', 'a')
  await turn()
  const rest = Promise.all(['b', 'c', 'd'].map(entry => batchWriter.do('lane', entry)))
  expect([batchWriter.isBusy('lane'), batchWriter.isBusy('other')]).toEqual([true, false])
  expect([await first, ...(await rest)]).toEqual(['A', 'B', 'C', 'D'])
  await turn()
  expect([done, batchWriter.isBusy('lane')]).toEqual([['a', 'b c d'], false])
})

test('batches at most a hundred entries, in four lanes at once', async () => {
  const { batchWriter, done } = counter()
  await Promise.all(Array.from({ length: 150 }, (_, at) => batchWriter.do('lane', `${at}`)))
  expect(done.map(each => each.split(' ').length)).toEqual([100, 50])
  const [under, gate] = [new Set<string>(), Promise.withResolvers<void>()]
  const held = createBatchWriter<string, string>(async ([entry]) => {
    under.add(entry!)
    await gate.promise
    return [entry!]
  })
  const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map(entry => held.do(entry, entry)))
  await turn()
  await turn()
  expect([...under]).toEqual(['a', 'b', 'c', 'd'])
  gate.resolve()
  expect(await all).toHaveLength(5)
})

test.each(['22003', '23514'])('of entries one of which cannot be written (%s) the others are', async code => {
  const { batchWriter, done } = counter(entries => (entries.includes('bad') ? ofDatabase(code) : undefined))
  const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map(entry => batchWriter.do('lane', entry)))
  expect(outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message))).toEqual(['A', code, 'C'])
  expect(done).toEqual(['a bad c', 'a', 'bad', 'c'])
})

test('does not retry each entry on a database that cannot write', async () => {
  const { batchWriter, done } = counter(() => ofDatabase('57P01'))
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(entry => batchWriter.do('lane', entry)))
  expect([outcomes.map(({ status }) => status), done]).toEqual([['rejected', 'rejected', 'rejected'], ['a b c']])
  await expect(batchWriter.do('lane', 'd')).rejects.toThrow('57P01')
})

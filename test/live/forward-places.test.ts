import { describe, expect, it } from 'vitest'
import { createForwardPlaces } from '../../router/live/forward-places.ts'

const claim = { caller: 'a', organization: 'o' }
const quick = { each: 1, waiting: 1, ofOrganization: 1, all: 1, timeoutMs: 60_000 }
const turn = () => new Promise(resolve => setImmediate(resolve))

/** Work that goes on until it is ended. */
function pieces(places: ReturnType<typeof createForwardPlaces>) {
  const begun: string[] = []
  return {
    begun,
    begin(name: string) {
      const ended = Promise.withResolvers<void>()
      const done = places.run(claim, () => {
        begun.push(name)
        return ended.promise
      })
      return { end: ended.resolve, done }
    },
  }
}

describe('slots for forwarded requests', () => {
  it('begin the next request when one ends, and reject too many waiting ones', async () => {
    const { begun, begin } = pieces(createForwardPlaces(quick, { each: 9, ofOrganization: 9, all: 9 }, 60_000))
    const [first, second] = [begin('first'), begin('second')]
    await expect(begin('third').done).rejects.toMatchObject({ code: 'RATE_LIMITED', extensions: { retryAfter: 1 } })
    expect(begun).toEqual(['first'])
    first.end()
    await first.done
    second.end()
    await second.done
    expect(begun).toEqual(['first', 'second'])
  })

  it('move a slow request to a slot for slow ones while there are any', async () => {
    const { begun, begin } = pieces(createForwardPlaces(quick, { each: 1, ofOrganization: 9, all: 9 }, 5))
    const first = begin('first')
    const second = begin('second')
    await expect.poll(() => begun).toEqual(['first', 'second'])
    const third = begin('third')
    await turn()
    expect(begun).toEqual(['first', 'second'])
    first.end()
    await expect.poll(() => begun).toEqual(['first', 'second', 'third'])
    for (const { end } of [second, third]) end()
    await Promise.all([first.done, second.done, third.done])
  })

  it('release the slot of a request that ends while it waits for a slow one', async () => {
    const places = createForwardPlaces({ ...quick, each: 2, ofOrganization: 2, all: 2 }, { each: 1, ofOrganization: 1, all: 1 }, 1)
    const { begun, begin } = pieces(places)
    const work = [begin('first'), begin('second'), begin('third')]
    await expect.poll(() => begun.length).toBe(3)
    for (const { end } of work) end()
    await Promise.all(work.map(({ done }) => done))
    const later = [begin('fourth'), begin('fifth'), begin('sixth')]
    expect(begun).toEqual(['first', 'second', 'third', 'fourth', 'fifth'])
    // The sixth has a place once one of the others has moved: the slow one was given back too.
    await expect.poll(() => begun.length).toBe(6)
    for (const { end } of later) end()
    await Promise.all(later.map(({ done }) => done))
  })

  it('release a slot when the work fails', async () => {
    const places = createForwardPlaces({ ...quick, waiting: 0 })
    await expect(places.run(claim, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await places.run(claim, async () => 'done')).toBe('done')
  })
})

import { describe, expect, it } from 'vitest'
import { createPlaces, noParty } from '../../../platform/caller/places.ts'

/** Places whose parties leave when the test says so. */
function trial(limits = { all: 4, ofParty: 2 }) {
  const places = createPlaces(limits)
  const began: string[] = []
  return {
    began,
    /** Enters for a party. @param name its letter and a number */
    enter(...names: readonly string[]) {
      for (const name of names) {
        const place = places.enter(name.slice(0, -1))
        if (place) void place.then(() => began.push(name))
        else began.push(name)
      }
    },
    async leave(...parties: readonly string[]) {
      for (const party of parties) {
        places.leave(party)
        await new Promise(resolve => setImmediate(resolve))
      }
    },
  }
}

describe('createPlaces', () => {
  it('gives one party no more slots than its limit when others are free', async () => {
    const { began, enter, leave } = trial()
    enter('a1', 'a2', 'a3', 'b1')
    expect(began).toEqual(['a1', 'a2', 'b1'])
    await leave('b')
    expect(began).toEqual(['a1', 'a2', 'b1'])
    await leave('a')
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  it('gives free slots to parties in turn when all are taken', async () => {
    const { began, enter, leave } = trial({ all: 2, ofParty: 2 })
    enter('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2')
    await leave('a', 'a', 'b', 'c', 'a')
    expect(began).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('lets waiting work of a party begin in the order of its arrival', async () => {
    const { began, enter, leave } = trial({ all: 1, ofParty: 1 })
    enter('a1', 'a2', 'a3')
    await leave('a')
    enter('a4')
    await leave('a', 'a')
    expect(began).toEqual(['a1', 'a2', 'a3', 'a4'])
  })

  it('passes the slot of failed work to the next party', async () => {
    const places = createPlaces({ all: 1, ofParty: 1 })
    const broken = places.run('a', async () => {
      throw new Error('broken')
    })
    const whole = places.run('b', async () => 'done')
    expect(await Promise.allSettled([broken, whole])).toMatchObject([{ reason: { message: 'broken' } }, { value: 'done' }])
  })

  it('gives the process itself every slot when nobody else waits', () => {
    const { began, enter } = trial()
    enter(...[1, 2, 3, 4, 5].map(at => `${noParty}${at}`), 'a1')
    expect(began).toEqual(['1', '2', '3', '4'])
  })
})

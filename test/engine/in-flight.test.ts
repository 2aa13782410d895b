import { describe, expect, it } from 'vitest'
import { createBytesInFlight } from '../../router/engine/data/in-flight.ts'

const limits = { ofCaller: 10, ofOrganization: 15, all: 20 }
const [ada, bob, eve] = [
  { caller: 'ada', organization: 'castle' },
  { caller: 'bob', organization: 'castle' },
  { caller: 'eve', organization: 'hamlet' },
]

describe('bytes in flight', () => {
  it('rejects what would exceed the limit of a caller, an organization, or the process, and says which', () => {
    const inFlight = createBytesInFlight(limits)
    expect(inFlight.take(ada, 11)).toBe('caller')
    expect(inFlight.take(ada, 10)).toBe(null)
    expect(inFlight.take(ada, 1)).toBe('caller')
    expect(inFlight.take(bob, 6)).toBe('organization')
    expect(inFlight.take(bob, 5)).toBe(null)
    expect(inFlight.take(eve, 6)).toBe('process')
    expect(inFlight.take(eve, 5)).toBe(null)
    expect([inFlight.total, inFlight.largest]).toEqual([20, 10])
  })

  it('takes nothing when it rejects', () => {
    const inFlight = createBytesInFlight(limits)
    expect(inFlight.take(ada, 11)).toBe('caller')
    expect(inFlight.take(ada, 10)).toBe(null)
    expect(inFlight.take(bob, 6)).toBe('organization')
    expect(inFlight.take(bob, 5)).toBe(null)
    expect(inFlight.total).toBe(15)
  })

  it('has room again when bytes are released', () => {
    const inFlight = createBytesInFlight(limits)
    inFlight.take(ada, 10)
    inFlight.release(ada, 4)
    expect(inFlight.take(ada, 5)).toBe('caller')
    expect(inFlight.take(ada, 4)).toBe(null)
    inFlight.release(ada, 10)
    expect(inFlight.total).toBe(0)
  })

  it('counts bytes that are held unconditionally against later claims', () => {
    const inFlight = createBytesInFlight(limits)
    inFlight.hold(ada, 18)
    expect(inFlight.take(ada, 1)).toBe('caller')
    expect(inFlight.take(bob, 1)).toBe('organization')
    expect(inFlight.take(eve, 3)).toBe('process')
    inFlight.release(ada, 18)
    expect(inFlight.take(eve, 10)).toBe(null)
  })

  it('is full for a caller who has taken nearly all, and for nobody else', () => {
    const inFlight = createBytesInFlight(limits)
    inFlight.take(ada, 9)
    expect(inFlight.isFull(ada)).toBe(false)
    inFlight.take(ada, 1)
    expect([inFlight.isFull(ada), inFlight.isFull(bob)]).toEqual([true, false])
    inFlight.release(ada, 1)
    expect(inFlight.isFull(ada)).toBe(false)
  })
})

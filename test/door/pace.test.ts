import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createPace, rememberTurn, turnOf } from '../../router/live/pace.ts'

const turn = () => new Promise(resolve => setImmediate(resolve))

describe('pace', () => {
  it('begins a few requests at once and the others in later turns of the event loop, taking turns between names', async () => {
    const { begin } = createPace({ perTurn: 2, turnMs: 5, looks: 0, waiting: 10 }, () => 0)
    const begun: string[] = []
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1']) begin(name[0]!, () => begun.push(name))
    expect(begun).toEqual(['a1', 'a2'])
    await turn()
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1'])
    begin('b', () => begun.push('b2'))
    await turn()
    await turn()
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
    await turn()
    begin('a', () => begun.push('a6'))
    expect(begun.at(-1)).toBe('a6')
  })

  it('begins fewer requests in a turn while turns take long, and more again once they are short', async () => {
    let now = 0
    let takes = 6
    const { begin } = createPace({ perTurn: 16, turnMs: 5, looks: 0, waiting: 1000 }, () => now)
    let begun = 0
    const work = () => {
      begun += 1
      now += takes
    }
    for (let at = 0; at < 100; at += 1) begin('a', () => work())
    const counts: number[] = []
    const turns = async (many: number) => {
      counts.length = 0
      for (let at = 0; at < many; at += 1) {
        const before = begun
        await turn()
        counts.push(begun - before)
      }
    }
    await turns(6)
    expect(counts).toEqual([8, 4, 2, 1, 1, 1])
    takes = 0
    await turns(5)
    expect(counts).toEqual([1, 2, 3, 4, 5])
  })

  it('waits for further connections before it begins waiting requests while each turn brings one, up to a maximum of turns', async () => {
    const { begin } = createPace({ perTurn: 1, turnMs: 5, looks: 3, waiting: 100 }, () => 0)
    const begun: string[] = []
    const come = (name: string) => begin(name[0]!, () => begun.push(name))
    // As connections are taken: one in a turn.
    come('a1')
    for (const name of ['a2', 'a3', 'b1']) {
      await turn()
      come(name)
      expect(begun).toEqual(['a1'])
    }
    await turn()
    come('a4')
    expect(begun).toEqual(['a1', 'a2'])
    // Nothing comes any more.
    await turn()
    await turn()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    for (let turns = 0; turns < 4; turns += 1) await turn()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
    come('a5')
    expect(begun.at(-1)).toBe('a5')
  })

  it('rejects a request with RATE_LIMITED when too many of its name wait', async () => {
    const { begin } = createPace({ perTurn: 1, turnMs: 5, looks: 0, waiting: 1 }, () => 0)
    let begun = 0
    const count = () => (begun += 1)
    begin('a', count)
    begin('a', count)
    expect(() => begin('a', count)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
    begin('b', count)
    for (let turns = 0; turns < 3; turns++) await turn()
    expect(begun).toBe(3)
  })
})

describe('turnOf', () => {
  const request = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage

  it('returns the address until a credential was valid, and the organization from then on', () => {
    const first = request({ 'x-api-key': 'sgk_pace_1' })
    expect(turnOf(first, '10.0.0.1')).toBe('10.0.0.1')
    rememberTurn(first, { caller: 'key:1', organization: 'org-1' })
    expect(turnOf(request({ 'x-api-key': 'sgk_pace_1' }), '10.0.0.2')).toBe('org-1')
  })

  it('treats invented credentials like the anonymous requests of their address', () => {
    expect(turnOf(request({}), '2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
    const names = Array.from({ length: 5 }, (_, at) => turnOf(request({ authorization: `Bearer made-up-${at}` }), '10.0.0.3'))
    expect(new Set(names)).toEqual(new Set(['10.0.0.3']))
  })
})

import { describe, expect, it } from 'vitest'
import { judge, pauseAfterTry, pauseBeforePoll, type SaidDecision } from '../../../subgraphs/agents/engines/policy/rules.ts'

const now = new Date('2027-03-01T09:30:00Z')
const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
const request = { decision: 'PENDING', decidedHash: null, actionHash: 'sha256:asked', expiresAt: at(60) } as const
const says = (decision: SaidDecision['decision'], actionHash: string | null = 'sha256:asked'): SaidDecision => ({
  ...{ decision, actionHash, reason: 'Because.', policyVersion: '1' },
})
const open = { isOver: false, now }

describe('judge', () => {
  it('allows exactly the action that was asked about, and takes another hash for no allowance', () => {
    expect(judge(request, says('allow'), open)).toMatchObject({ changes: { decision: 'ALLOW', decidedAt: now, nextAt: null } })
    expect(judge(request, says('allow', 'sha256:other'), open)).toMatchObject({ changes: { decision: 'MISMATCH', decidedHash: 'sha256:other' } })
    expect(judge(request, says('allow', null), open)).toMatchObject({ changes: { decision: 'MISMATCH' } })
    expect(judge(request, says('deny', 'sha256:other'), open)).toMatchObject({ changes: { decision: 'DENY' } })
  })

  it('goes on asking after a hold', () => {
    const held = judge(request, says('hold', null), open)
    expect(held).toEqual({ changes: { decision: 'HOLD', reason: 'Because.', policyVersion: '1' } })
    expect(judge({ ...request, decision: 'HOLD' }, says('hold'), open)).toBe('repeated')
    expect(judge({ ...request, decision: 'HOLD' }, says('allow'), open)).toMatchObject({ changes: { decision: 'ALLOW' } })
  })

  it('takes the same decision again, also after the end, and no other one', () => {
    const over = { isOver: true, now: at(100) }
    const allowed = { ...request, decision: 'ALLOW', decidedHash: 'sha256:asked' } as const
    expect(judge(allowed, says('allow'), over)).toBe('repeated')
    expect(judge(allowed, says('deny'), over)).toBe('late')
    expect(judge(allowed, says('hold'), over)).toBe('late')
    expect(judge({ ...request, decision: 'DENY' }, says('deny'), over)).toBe('repeated')
    expect(judge({ ...request, decision: 'DENY' }, says('allow'), over)).toBe('late')
    const mismatch = { ...request, decision: 'MISMATCH', decidedHash: 'sha256:other' } as const
    expect(judge(mismatch, says('allow', 'sha256:other'), over)).toBe('repeated')
    expect(judge(mismatch, says('allow'), over)).toBe('late')
  })

  it('takes no decision after the time is over, or after the run', () => {
    expect(judge({ ...request, decision: 'EXPIRED' }, says('allow'), open)).toBe('late')
    expect(judge(request, says('allow'), { isOver: false, now: at(60) })).toBe('late')
    expect(judge(request, says('allow'), { isOver: true, now })).toBe('late')
    expect(judge({ ...request, decision: 'HOLD' }, says('deny'), { isOver: true, now })).toBe('late')
  })
})

describe('the pace of asking', () => {
  it('hands a request over again after 1, 2, 4 and so on seconds, 60 at most', () => {
    expect([1, 2, 3, 6, 7, 50].map(tries => pauseAfterTry(tries) / 1_000)).toEqual([1, 2, 4, 32, 60, 60])
  })

  it('asks every 5 s in the first minute, then every 30 s', () => {
    expect([0, 59, 60, 3_600].map(seconds => pauseBeforePoll(now, at(seconds)) / 1_000)).toEqual([5, 5, 30, 30])
  })
})

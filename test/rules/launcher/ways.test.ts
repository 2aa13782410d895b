import { describe, expect, it } from 'vitest'
import { waysOf } from '../../../subgraphs/launcher/engines/notify/ways.ts'

const notice = { app: 'payments', kind: 'order.paid', severity: 'NORMAL' } as const
const none = { inApp: false, email: false, push: false }

describe('waysOf', () => {
  it.each([
    ['CRITICAL', { inApp: true, email: true, push: true }],
    ['HIGH', { inApp: true, email: false, push: true }],
    ['NORMAL', { inApp: true, email: false, push: false }],
    ['LOW', { inApp: true, email: false, push: false }],
  ] as const)('without rules sends what is %s by %j', (severity, ways) => {
    expect(waysOf([], { ...notice, severity })).toEqual(ways)
  })

  it('takes the first rule that fits by app and kind', () => {
    const mail = { app: 'payments', kind: '*', inApp: false, email: true, push: false }
    expect(
      waysOf([{ app: 'agents', kind: '*', ...none }, { app: '*', kind: 'order.refunded', ...none }, mail, { app: '*', kind: '*', ...none }], notice),
    ).toEqual({
      ...{ inApp: false, email: true, push: false },
    })
  })

  it('never mutes what is CRITICAL', () => {
    expect(waysOf([{ app: '*', kind: '*', ...none }], { ...notice, severity: 'CRITICAL' })).toEqual({ inApp: true, email: true, push: true })
  })
})

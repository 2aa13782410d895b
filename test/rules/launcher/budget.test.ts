import { describe, expect, test } from 'vitest'
import { alerting, keyOfAlert } from '../../../subgraphs/launcher/action-item/budget.ts'

const at = new Date('2026-02-14T15:45:10Z')
const alert = (kind: string, scopeType = 'ORGANIZATION') => ({ limitId: 'l', organizationId: 'o', scopeType, kind })
const item = (status: 'OPEN' | 'DONE' | 'RESOLVED', kind: string) => ({ status, kind })

describe('an alert of a spend limit', () => {
  test('is an item of managers for the soft amount and for half, under the key of its limit', () => {
    expect(keyOfAlert(alert('SOFT'))).toBe('spend_limit:l')
    expect(alerting(null, alert('SOFT'), at, 'https://here.test')).toEqual({
      ...{ kind: 'BUDGET_ALERT', severity: 'NORMAL', organizationId: 'o', audience: 'managers', userId: null, subjectId: 'l', body: null, dueAt: null },
      ...{ title: 'The soft amount of a spend limit of the organization is spent', url: 'https://here.test/providers/api/limits/l', openedAt: at },
    })
    expect(alerting(null, alert('PERCENT_50', 'MODEL'), at, 'https://here.test')?.title).toBe('Half of a spend limit of a model is spent')
  })

  test.each(['PERCENT_80', 'PERCENT_95', 'EXHAUSTED', 'WHATEVER_COMES'])('%s makes none: attention to the limit comes beside it', kind => {
    expect(alerting(null, alert(kind), at, 'https://here.test')).toBeNull()
  })

  test.each([
    ['OPEN', 'BUDGET_EXHAUSTED', false],
    ['OPEN', 'BUDGET_ALERT', true],
    ['DONE', 'BUDGET_EXHAUSTED', true],
    ['RESOLVED', 'BUDGET_NEAR_LIMIT', true],
  ] as const)('finds an item that is %s as %s: it makes one (%s)', (status, kind, makes) => {
    expect(alerting(item(status, kind), alert('SOFT'), at, 'https://here.test') !== null).toBe(makes)
  })
})

import { expect, test } from 'vitest'
import { payload } from '../../../subgraphs/providers/call/widget/rules.ts'

const quiet = { callsToday: 0, failedCallsToday: 0, spentMicros: '0', credentialsFailing: 0, nearestLimit: null }

test('G-11 shows calls and spending; fractions of a cent count as one', () => {
  const shown = payload({ ...quiet, callsToday: 3, failedCallsToday: 1, spentMicros: '20001' }, '').statistics
  expect(Object.fromEntries(shown.map(({ key, value }) => [key, value]))).toEqual({
    ...{ callsToday: 3, failedCallsToday: 1, spendThisMonthCents: 3, credentialsFailing: 0 },
  })
  expect(payload({ ...quiet, spentMicros: '20000' }, '').statistics[2]!.value).toBe(2)
})

test('G-11 leads to failing credentials, else to the limit closest to its end, else nowhere', () => {
  const at = 'https://platform.example'
  expect(payload(quiet, at).nextAction).toBeNull()
  expect(payload({ ...quiet, nearestLimit: 'l' }, at).nextAction).toMatchObject({ url: `${at}/providers/api/limits/l` })
  expect(payload({ ...quiet, nearestLimit: 'l', credentialsFailing: 1 }, at).nextAction).toEqual({
    ...{ label: 'Look at the credential that fails', url: `${at}/providers/api/credentials` },
  })
  expect(payload({ ...quiet, credentialsFailing: 3 }, at).nextAction!.label).toBe('Look at 3 credentials that fail')
})

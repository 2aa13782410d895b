import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../../platform/errors.ts'
import { createMemoryEvents, type Resync } from '../../../platform/events.ts'
import { factsOf, limitTopic, resyncLimits } from '../../../subgraphs/providers/engines/spend/announce.ts'
import {
  admit,
  alerted,
  alertKinds,
  asOf,
  attentionOf,
  book,
  changed,
  countsIn,
  dueAlerts,
  heldForMs,
  overdrawn,
  raise,
  release,
  remainingOf,
} from '../../../subgraphs/providers/engines/spend/booking.ts'
import { decide, type Entry } from '../../../subgraphs/providers/engines/spend/decide.ts'
import type { CallAttempt, CallRow } from '../../../subgraphs/providers/stores/call.ts'
import { resetsAt, type SpendLimitRow, type SpendPeriod, scopeOfModel, scopesOf, sinceOf } from '../../../subgraphs/providers/stores/spend/limit.ts'

const at = (text: string) => new Date(text)
const made = at('2026-02-10T09:30:00Z')
const now = at('2026-02-14T15:45:10Z')
const today = at('2026-02-14T00:00:00Z')

const limit = (more: Partial<SpendLimitRow> = {}): SpendLimitRow => ({
  ...{ id: 'l1', level: 'ORGANIZATION', organizationId: 'o1', tenantId: 'o1', scopeType: 'ORGANIZATION', scopeValue: 'o1', period: 'DAY' },
  ...{ softLimitMicros: null, hardLimitMicros: 1000n, unpriced: 'BLOCK', note: null, since: today, spentMicros: 0n, reservedMicros: 0n, overdrawnMicros: 0n },
  ...{ isCounted: true, alerts: [], attention: null, isDefault: false, hasAllowance: true, createdAt: made, updatedAt: made, createdBy: 'test', version: 1 },
  ...more,
})
const call = { organizationId: 'o1', appId: 'app_a', userId: 'u1', family: 'AI' as const }
const ofModel = (id: string, model: string, more: Partial<SpendLimitRow> = {}) => limit({ id, scopeType: 'MODEL', scopeValue: model, ...more })
const candidate = (model: string, upperMicros: bigint | null) => ({ model, upperMicros })

describe('a limit’s period', () => {
  test.for([
    ['DAY', '2026-02-14T00:00:00Z', '2026-02-15T00:00:00Z'],
    ['MONTH', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['TOTAL', '2026-02-10T09:30:00Z', null],
  ] as const)('%s begins at %s and ends at %s, in UTC', ([period, since, ends]) => {
    expect(sinceOf(period, now, made)).toEqual(at(since))
    expect(resetsAt(period, at(since))).toEqual(ends && at(ends))
  })

  test('of a year’s last day and month ends with the year', () => {
    expect(resetsAt('DAY', at('2026-12-31T00:00:00Z'))).toEqual(at('2027-01-01T00:00:00Z'))
    expect(resetsAt('MONTH', at('2026-12-01T00:00:00Z'))).toEqual(at('2027-01-01T00:00:00Z'))
  })

  test('begins without spending, reservations and alerts; a lagging clock returns to no former one', () => {
    const used = limit({ spentMicros: 5n, reservedMicros: 4n, overdrawnMicros: 3n, alerts: [{ kind: 'SOFT', at: 'then' }], attention: 'BUDGET_EXHAUSTED' })
    const tomorrow = at('2026-02-15T00:00:00Z')
    expect(asOf(used, at('2026-02-14T23:59:59.999Z'))).toBe(used)
    expect(asOf(used, tomorrow)).toEqual(limit({ since: tomorrow }))
    expect(asOf(used, at('2026-02-13T23:59:59Z'))).toBe(used)
    const total = limit({ period: 'TOTAL', since: made, spentMicros: 5n })
    expect(asOf(total, at('2036-01-01T00:00:00Z'))).toBe(total)
  })

  test('reserves a call’s possible cost for a quarter of an hour', () => expect(heldForMs).toBe(900_000))
})

describe('the limits of a call', () => {
  test('are those of its platform, organization, app, person and family; without a person none of persons', () => {
    expect(scopesOf(call).map(({ type, value }) => `${type} ${value}`)).toEqual([
      ...['PLATFORM platform', 'ORGANIZATION o1', 'APP app_a', 'USER u1', 'PROVIDER_FAMILY ai'],
    ])
    expect(scopesOf({ ...call, userId: null }).map(({ type }) => type)).toEqual(['PLATFORM', 'ORGANIZATION', 'APP', 'PROVIDER_FAMILY'])
    expect(scopeOfModel('a/b')).toEqual({ type: 'MODEL', value: 'a/b' })
  })

  test('are none of another organization, and all of the platform with its scopes', () => {
    const of = (organizationId: string | null, scopeType: SpendLimitRow['scopeType'], scopeValue: string, model: string | null = 'a/b') =>
      countsIn({ organizationId, scopeType, scopeValue }, call, model)
    expect([of('o1', 'APP', 'app_a'), of('o2', 'APP', 'app_a'), of(null, 'APP', 'app_a'), of('o1', 'APP', 'app_b')]).toEqual([true, false, true, false])
    expect([of('o1', 'MODEL', 'a/b'), of('o1', 'MODEL', 'a/c'), of('o2', 'MODEL', 'a/b'), of('o1', 'MODEL', 'a/b', null)]).toEqual([true, false, false, false])
    expect([of('o1', 'APP', 'u1'), of('o1', 'USER', 'u1')]).toEqual([false, true])
  })
})

describe('a beginning call', () => {
  test('passes where it is covered to the last micro-dollar, and its dearest candidate is held in every limit of its', () => {
    const limits = [limit({ spentMicros: 600n, reservedMicros: 100n }), limit({ id: 'l2', hardLimitMicros: null, reservedMicros: 5n })]
    expect(admit(limits, [candidate('a/b', 200n), candidate('a/c', 300n), candidate('a/d', 100n)])).toEqual({
      allowed: [candidate('a/b', 200n), candidate('a/c', 300n), candidate('a/d', 100n)],
      held: ['l1', 'l2'].map(limitId => ({ limitId, micros: '300', since: today.toISOString() })),
      limits: [limit({ spentMicros: 600n, reservedMicros: 400n }), limit({ id: 'l2', hardLimitMicros: null, reservedMicros: 305n })],
    })
    expect(admit(limits, [candidate('a/b', 301n)])).toEqual({ refused: 'BUDGET', limit: limits[0], short: [limits[0]] })
  })

  test('is told of the limit that lasts longest: until then no call passes', () => {
    const spent = { spentMicros: 1000n }
    const [day, month, total] = (['DAY', 'MONTH', 'TOTAL'] as SpendPeriod[]).map(period =>
      limit({ id: period, period, since: sinceOf(period, now, made), ...spent }),
    )
    const told = (...limits: (SpendLimitRow | undefined)[]) => (admit(limits as SpendLimitRow[], [candidate('a/b', 1n)]) as { limit: SpendLimitRow }).limit.id
    expect([told(day, month, total), told(total, month, day), told(month, day), told(day, month)]).toEqual(['TOTAL', 'TOTAL', 'MONTH', 'MONTH'])
  })

  test('reserves in limits of models each one’s cost, skips a later one that they do not cover, and is rejected with the first', () => {
    const [first, second] = [ofModel('m1', 'a/b'), ofModel('m2', 'a/c', { hardLimitMicros: 50n })]
    const both = [candidate('a/b', 60n), candidate('a/c', 51n)]
    expect(admit([first, second], both)).toMatchObject({ allowed: [both[0]], held: [{ limitId: 'm1', micros: '60' }] })
    expect(admit([first, second], both.toReversed())).toEqual({ refused: 'BUDGET', limit: second, short: [second] })
    expect(admit([limit(), first, second], [both[0]!, candidate('a/c', 50n)])).toMatchObject({
      held: [
        { limitId: 'l1', micros: '60' },
        { limitId: 'm1', micros: '60' },
        { limitId: 'm2', micros: '50' },
      ],
    })
  })

  test('without a price is rejected by a hard limit that requires one, of any scope; a later candidate is skipped', () => {
    const nobodyKnows = candidate('a/b', null)
    for (const strict of [limit(), ofModel('m1', 'a/b')]) expect(admit([strict], [nobodyKnows])).toEqual({ refused: 'UNPRICED', limit: strict, short: [] })
    expect(admit([limit()], [candidate('a/c', 7n), nobodyKnows])).toMatchObject({ allowed: [candidate('a/c', 7n)] })
    for (const lenient of [limit({ unpriced: 'ALLOW' }), limit({ hardLimitMicros: null, softLimitMicros: 5n }), ofModel('m1', 'a/c')])
      expect(admit([lenient], [nobodyKnows])).toMatchObject({ allowed: [nobodyKnows] })
    expect(admit([limit({ unpriced: 'ALLOW' })], [nobodyKnows])).toMatchObject({ held: [{ limitId: 'l1', micros: '0' }] })
  })
})

describe('an ended call', () => {
  const attempts: readonly CallAttempt[] = []
  const ended = { ...call, model: 'a/b', createdAt: now, attempts, held: [{ limitId: 'l1', micros: '300', since: today.toISOString() }] }

  test('is booked with its cost, and its reservation is released', () => {
    expect(book([limit({ spentMicros: 10n, reservedMicros: 350n })], ended, 120n).limits).toEqual([limit({ spentMicros: 130n, reservedMicros: 50n })])
    expect(book([limit({ reservedMicros: 300n })], ended, 0n)).toEqual({ limits: [limit()], pending: [] })
    expect(book([limit()], { ...ended, held: [] }, 0n).limits).toEqual([])
  })

  test('releases reservations for a model that did not answer, without cost there', () => {
    const held = [{ limitId: 'm2', micros: '40', since: today.toISOString() }]
    expect(book([ofModel('m2', 'a/c', { reservedMicros: 40n })], { ...ended, held }, 120n).limits).toEqual([ofModel('m2', 'a/c')])
  })

  test('does not change another period than its own', () => {
    const yesterday = at('2026-02-13T23:59:59Z')
    const before = [{ limitId: 'l1', micros: '300', since: '2026-02-13T00:00:00.000Z' }]
    expect(book([limit({ reservedMicros: 300n })], { ...ended, held: before }, 120n).limits).toEqual([])
    expect(book([limit()], { ...ended, held: [], createdAt: yesterday }, 120n).limits).toEqual([])
    expect(book([limit()], { ...ended, held: [] }, 120n).limits).toEqual([limit({ spentMicros: 120n })])
    const total = limit({ period: 'TOTAL', since: made })
    expect(book([total], { ...ended, held: [], createdAt: made }, 120n).limits).toHaveLength(1)
    expect(book([total], { ...ended, held: [], createdAt: new Date(made.getTime() - 1) }, 120n).limits).toEqual([])
  })

  test('that cost more than was left is booked nevertheless, and the limit shows by how much', () => {
    const [after] = book([limit({ spentMicros: 900n, reservedMicros: 300n })], ended, 400n).limits
    expect(after).toMatchObject({ spentMicros: 1300n, reservedMicros: 0n, overdrawnMicros: 300n })
    expect(remainingOf(after!)).toBe(-300n)
    expect(overdrawn({ ...after!, hardLimitMicros: 1300n }).overdrawnMicros).toBe(0n)
    expect(overdrawn({ ...after!, hardLimitMicros: null }).overdrawnMicros).toBe(0n)
    expect(overdrawn(after!)).toBe(after)
  })

  const late: CallAttempt = { provider: 'a', model: 'a/late', status: null, failure: 'timeout', latencyMs: 9, costMicros: '30' }
  const since = today.toISOString()

  test('after an attempt without an answer keeps the possible cost reserved, and no more than was reserved', () => {
    const held = [{ limitId: 'l1', micros: '300', since }]
    const call = { ...ended, attempts: [late], held }
    const booked = (cost: bigint, micros: bigint) => book([limit({ reservedMicros: 300n })], call, cost, [{ model: 'a/late', micros }])
    expect(booked(150n, 70n)).toEqual({ limits: [limit({ spentMicros: 150n, reservedMicros: 70n })], pending: [{ limitId: 'l1', micros: '70', since }] })
    expect(booked(150n, 151n)).toEqual({ limits: [limit({ spentMicros: 150n, reservedMicros: 150n })], pending: [{ limitId: 'l1', micros: '150', since }] })
    expect(booked(400n, 70n)).toEqual({ limits: [limit({ spentMicros: 400n })], pending: [] })
    expect(release([limit({ reservedMicros: 70n })], booked(150n, 70n).pending)).toEqual([limit()])
    expect(release([limit({ reservedMicros: 70n })], [{ limitId: 'l1', micros: '70', since: '2026-02-13T00:00:00.000Z' }])).toEqual([])
  })

  test('costs in the limit of each model what that model used, with or without its answer', () => {
    const held = [
      { limitId: 'm1', micros: '200', since },
      { limitId: 'm2', micros: '100', since },
    ]
    const limits = [ofModel('m1', 'a/b', { reservedMicros: 200n }), ofModel('m2', 'a/late', { reservedMicros: 100n })]
    expect(book(limits, { ...ended, attempts: [late], held }, 150n, [{ model: 'a/late', micros: 70n }])).toEqual({
      limits: [ofModel('m1', 'a/b', { spentMicros: 120n }), ofModel('m2', 'a/late', { spentMicros: 30n, reservedMicros: 70n })],
      pending: [{ limitId: 'm2', micros: '70', since }],
    })
    expect(book(limits, { ...ended, model: null, attempts: [late], held }, 30n).limits.map(({ spentMicros }) => spentMicros)).toEqual([0n, 30n])
  })
})

describe('the reservation of a call that tries another model', () => {
  const since = today.toISOString()
  const held = [
    { limitId: 'l1', micros: '300', since },
    { limitId: 'm1', micros: '300', since },
  ]

  test('is raised in all of its limits but those of models, or in none where one does not cover it', () => {
    const [own, other] = [limit({ reservedMicros: 300n, hardLimitMicros: 500n }), ofModel('m1', 'a/b', { reservedMicros: 300n })]
    expect(raise([own, other], held, 500n)).toEqual({ limits: [{ ...own, reservedMicros: 500n }], held: [{ ...held[0]!, micros: '500' }, held[1]] })
    expect(raise([own, other], held, 501n)).toBeNull()
    expect(raise([own, other], held, 300n)).toEqual({ limits: [], held })
    expect(raise([own], [{ ...held[0]!, since: '2026-02-13T00:00:00.000Z' }], 900n)).toMatchObject({ limits: [] })
  })
})

describe('entries of one batch', () => {
  const row = (id: string, userId: string, more: Partial<CallRow> = {}): CallRow => ({
    ...{ organizationId: 'o1', id, family: 'AI', operation: 'chat.completions', status: 'RUNNING', appId: 'app_a', userId, requestedModel: null },
    ...{
      model: null,
      provider: null,
      inputTokens: null,
      cachedTokens: null,
      cacheWriteTokens: null,
      outputTokens: null,
      units: null,
      costMicros: null,
      platformMicros: null,
      latencyMs: null,
      firstByteMs: null,
    },
    ...{ attempts: [], prompt: null, promptUntil: null, held: [], hasNewLimit: false, expired: false, expiresAt: now, createdAt: now, endedAt: null },
    ...{ doubtful: false, pending: [], pendingUntil: null },
    ...more,
  })
  const begins = (id: string, userId: string, micros = 400n): Entry => ({ kind: 'begin', call: row(id, userId), candidates: [candidate('a/b', micros)] })
  const ends = (id: string, expired = false): Entry => ({
    kind: 'end',
    ended: { ...row(id, 'u1'), status: 'SUCCEEDED', model: 'a/b', provider: 'a', costMicros: 120n, expired, endedAt: now },
    unclear: [],
  })
  const of = (userId: string, hardLimitMicros: bigint) => limit({ id: userId, scopeType: 'USER', scopeValue: userId, hardLimitMicros })

  test('are each checked against their own limits, independently', () => {
    const { outcomes, changes, begun } = decide([begins('c1', 'u1'), begins('c2', 'u2')], [of('u1', 0n), of('u2', 1000n)], [], now)
    expect(outcomes.map(outcome => ('refused' in outcome ? outcome.refused.extensions.scopeType : 'passes'))).toEqual(['USER', 'passes'])
    expect(changes.map(({ after: { id, reservedMicros, attention } }) => [id, reservedMicros, attention])).toEqual([
      ['u1', 0n, 'BUDGET_EXHAUSTED'],
      ['u2', 400n, null],
    ])
    expect(begun.map(({ id, status, held }) => [id, status, held.map(({ limitId }) => limitId)])).toEqual([
      ['c1', 'REFUSED', []],
      ['c2', 'RUNNING', ['u2']],
    ])
  })

  test('apply in order: an earlier reservation reduces a later one, and an end makes room', () => {
    const held = [{ limitId: 'l1', micros: '400', since: today.toISOString() }]
    const { outcomes, changes } = decide(
      [begins('c2', 'u2'), ends('c1'), begins('c3', 'u3')],
      [limit({ hardLimitMicros: 700n, reservedMicros: 400n })],
      [row('c1', 'u1', { held })],
      now,
    )
    expect(outcomes.map(outcome => Object.keys(outcome)[0])).toEqual(['refused', 'ended', 'allowed'])
    expect(changes[0]!.after).toMatchObject({ spentMicros: 120n, reservedMicros: 400n })
  })

  test('end a call once, and an overdue one only while it runs', () => {
    const running = (more: Partial<CallRow>) => [row('c1', 'u1', more)]
    const outcomesOf = (entries: readonly Entry[], more: Partial<CallRow> = {}) => decide(entries, [limit()], running(more), now).outcomes
    expect(outcomesOf([ends('c1'), ends('c1')])).toEqual([{ ended: true }, { ended: false }])
    const late = { status: 'FAILED', expired: true } as const
    expect([outcomesOf([ends('c1', true)]), outcomesOf([ends('c1', true)], late), outcomesOf([ends('c1')], late)]).toEqual([
      [{ ended: true }],
      [{ ended: false }],
      [{ ended: true }],
    ])
  })

  test('report which organizations have a limit, and whether a hard one', () => {
    const told = (limits: readonly SpendLimitRow[]) => {
      const { isLimited, outcomes } = decide([begins('c1', 'u1')], limits, [], now)
      return [isLimited.get('o1'), (outcomes[0] as { isLimited: boolean }).isLimited]
    }
    expect([told([]), told([limit({ hardLimitMicros: null })]), told([limit()])]).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ])
  })

  test('that are rejected notify every limit that does not cover them, and the caller of the longest', () => {
    const limits = [limit({ hardLimitMicros: 90n }), limit({ id: 'l2', period: 'TOTAL', hardLimitMicros: 0n }), limit({ id: 'l3', period: 'MONTH' })]
    const { outcomes, changes, begun } = decide([begins('c1', 'u1'), begins('c2', 'u1')], limits, [], now)
    expect(outcomes.map(outcome => (outcome as { refused: DomainError }).refused.extensions.resetsAt)).toEqual([null, null])
    expect(changes.map(({ after }) => [after.id, after.attention, after.alerts.map(({ kind }) => kind).join()])).toEqual([
      ['l1', 'BUDGET_EXHAUSTED', 'EXHAUSTED'],
      ['l2', 'BUDGET_EXHAUSTED', 'EXHAUSTED'],
    ])
    expect(begun.map(({ status }) => status)).toEqual(['REFUSED', 'REFUSED'])
  })

  test('with a charge rejected elsewhere are stored, and notify limits that still do not cover them', () => {
    const refused = (hardLimitMicros: bigint) => {
      const entry: Entry = { kind: 'refused', call: row('c1', 'u1', { status: 'REFUSED', costMicros: 0n }), candidates: [candidate('', 100n)] }
      const { begun, changes } = decide([entry], [limit({ hardLimitMicros })], [], now)
      return [begun.map(({ status }) => status), changes.map(({ after }) => after.attention)]
    }
    expect([refused(99n), refused(100n)]).toEqual([
      [['REFUSED'], ['BUDGET_EXHAUSTED']],
      [['REFUSED'], []],
    ])
  })

  test('with a charge count at once, and a rejected one is not stored', () => {
    const charge: Entry = { kind: 'charge', call: row('c1', 'u1', { status: 'SUCCEEDED', costMicros: 100n }), candidates: [candidate('', 100n)] }
    const passed = decide([charge], [limit()], [], now)
    expect([passed.changes[0]!.after.spentMicros, passed.changes[0]!.after.reservedMicros, passed.begun[0]!.endedAt]).toEqual([100n, 0n, now])
    const refused = decide([charge], [limit({ hardLimitMicros: 99n })], [], now)
    expect([refused.begun, refused.changes, refused.refusedCharges.map(({ call }) => [call.status, call.costMicros])]).toEqual([[], [], [['REFUSED', 0n]]])
  })
})

describe('a limit’s alerts', () => {
  const due = (spentMicros: bigint, more: Partial<SpendLimitRow> = {}) => dueAlerts(limit({ spentMicros, ...more }))

  test('report the soft limit, and shares of the hard one, to the micro-dollar', () => {
    expect([due(499n), due(500n), due(799n), due(800n).at(-1), due(949n).length, due(950n).at(-1), due(999n).length]).toEqual([
      ...[[], ['PERCENT_50'], ['PERCENT_50'], 'PERCENT_80', 2, 'PERCENT_95', 3],
    ])
    expect(due(1000n, { softLimitMicros: 1000n })).toEqual(alertKinds)
    expect([due(99n, { softLimitMicros: 100n }), due(100n, { softLimitMicros: 100n })]).toEqual([[], ['SOFT']])
  })

  test('nothing while nothing is spent, and of a hard limit of nothing', () => {
    expect([due(0n, { softLimitMicros: 0n }), due(5n, { hardLimitMicros: 0n }), due(1n, { softLimitMicros: 0n, hardLimitMicros: null })]).toEqual([
      [],
      [],
      ['SOFT'],
    ])
  })

  test('are sent once a period, with attention for its managers', () => {
    const first = alerted(limit({ spentMicros: 800n }), now)
    expect([first.alerts.map(({ kind }) => kind), first.attention]).toEqual([['PERCENT_50', 'PERCENT_80'], 'BUDGET_NEAR_LIMIT'])
    expect(first.alerts[0]!.at).toBe(now.toISOString())
    expect(alerted(first, new Date(0))).toBe(first)
    const all = alerted({ ...first, spentMicros: 1000n }, now)
    expect([all.alerts.map(({ kind }) => kind), all.attention]).toEqual([['PERCENT_50', 'PERCENT_80', 'PERCENT_95', 'EXHAUSTED'], 'BUDGET_EXHAUSTED'])
    expect([attentionOf(limit({ spentMicros: 799n })), attentionOf(limit({ hardLimitMicros: null, spentMicros: 9n }))]).toEqual([null, null])
    expect([attentionOf(limit({ hardLimitMicros: 0n })), attentionOf(limit({ hardLimitMicros: 0n, spentMicros: 1n }))]).toEqual([null, 'BUDGET_EXHAUSTED'])
  })

  test.each<readonly [string, Partial<SpendLimitRow>, Partial<SpendLimitRow>, SpendLimitRow['attention']]>([
    ['raised', {}, { hardLimitMicros: 10_000n }, null],
    ['raised, but not beyond what is spent', { spentMicros: 1_002n }, { hardLimitMicros: 1_001n }, 'BUDGET_EXHAUSTED'],
    ['removed', {}, { hardLimitMicros: null, softLimitMicros: 5n }, null],
    ['lowered', {}, { hardLimitMicros: 900n }, 'BUDGET_EXHAUSTED'],
    ['kept, and its note changed', {}, { note: 'n' }, 'BUDGET_EXHAUSTED'],
    ['kept, and its period is over', { since: at('2026-02-13T00:00:00Z') }, { note: 'n' }, null],
  ])('that it refuses calls until it is %s', (_, more, settings, attention) => {
    const refusing = alerted(limit({ spentMicros: 620n, ...more }), now, true)
    expect([refusing.attention, refusing.alerts.map(({ kind }) => kind).at(-1)]).toEqual(['BUDGET_EXHAUSTED', 'EXHAUSTED'])
    expect(changed(refusing, settings, now).attention).toBe(attention)
  })

  test('that it refuses calls, once, also when a smaller call passes later', () => {
    const refusing = alerted(limit({ spentMicros: 620n, alerts: [{ kind: 'PERCENT_50', at: 'then' }] }), now, true)
    expect(alerted(refusing, now, true)).toBe(refusing)
    expect(alerted({ ...refusing, spentMicros: 700n }, now)).toEqual({ ...refusing, spentMicros: 700n })
    const all = alerted({ ...refusing, spentMicros: 1000n }, now)
    expect([all.attention, all.alerts.map(({ kind }) => kind)]).toEqual(['BUDGET_EXHAUSTED', ['PERCENT_50', 'EXHAUSTED', 'PERCENT_80', 'PERCENT_95']])
    expect(alerted(limit({ hardLimitMicros: 0n }), now, true)).toMatchObject({ attention: 'BUDGET_EXHAUSTED', alerts: [{ kind: 'EXHAUSTED' }] })
  })

  test('close when its period ends or it is deleted, before new ones open', () => {
    const kinds = (before: Partial<SpendLimitRow>, after: Partial<SpendLimitRow> | null) =>
      factsOf(limit(before), after && limit(after), 'https://here.test', now).map(({ kind }) => kind)
    const soft = { alerts: [{ kind: 'SOFT', at: 'then' }] } as const
    const before = { since: at('2026-02-13T00:00:00Z') }
    expect([kinds(soft, soft), kinds(soft, null), kinds({}, null)]).toEqual([[], ['attention.closed'], []])
    expect([kinds({ ...soft, ...before }, {}), kinds({ ...soft, ...before }, soft)]).toEqual([['attention.closed'], ['attention.closed', 'budget.alert']])
    expect(kinds({ ...soft, attention: 'BUDGET_NEAR_LIMIT' }, { ...soft, attention: 'BUDGET_EXHAUSTED' })).toEqual(['attention.opened'])
  })

  test('use new facts when the former period had the same alert', () => {
    const alerts = [{ kind: 'PERCENT_50', at: now.toISOString() }] as const
    const told = (before: SpendLimitRow) => factsOf(before, limit({ spentMicros: 500n, alerts }), 'https://here.test', now).map(({ kind }) => kind)
    expect(told(limit({ spentMicros: 500n, alerts }))).toEqual([])
    expect(told(limit({ spentMicros: 500n, alerts, since: at('2026-02-13T00:00:00Z') }))).toEqual(['attention.closed', 'budget.alert'])
  })
})

test('G-04 a followed limit is read every minute: its mark changes with everything its screens show, and when it is deleted', async () => {
  const looks: (readonly [string, Resync])[] = []
  let present: SpendLimitRow | null = limit()
  const asked: string[] = []
  resyncLimits({ ...createMemoryEvents(), resync: (...given) => void looks.push(given) }, async id => {
    asked.push(id)
    return present
  })
  const [[prefix, look]] = looks as [readonly [string, Resync]]
  const marks = new Set()
  for (const more of [
    {},
    {},
    { spentMicros: 5n },
    { reservedMicros: 5n },
    { version: 2 },
    { since: made },
    { alerts: [{ kind: 'SOFT', at: '' }] },
    null,
  ] as const) {
    present = more && limit(more)
    const [found, ...others] = await look(limitTopic('l1').slice(prefix.length), now, false)
    expect([found!.ids, others]).toEqual([{ id: 'l1' }, []])
    marks.add(found!.mark)
  }
  expect([marks.size, new Set(asked)]).toEqual([7, new Set(['l1'])])
})

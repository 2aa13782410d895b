import { describe, expect, it } from 'vitest'
import { readReturnTo } from '../../../subgraphs/launcher/catalog/billing/billing-manager.ts'
import { commonOf, judge, planSeats, readSnapshot } from '../../../subgraphs/launcher/engines/commerce/rules.ts'
import { isEntitled, rightsOf } from '../../../subgraphs/launcher/stores/commerce/entitlement.ts'
import type { WorkspaceVerificationRow } from '../../../subgraphs/launcher/stores/commerce/subscription.ts'
import { type SubscriptionFields, subscriptionEvent } from '../../subgraphs/launcher/commerce/seed.ts'

const organization = '01900000-0000-7000-8000-000000000001'
const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000)
const objectOf = (fields: Partial<SubscriptionFields> = {}) =>
  subscriptionEvent('customer.subscription.updated', { id: 'sub_1', owner: organization, ...fields }, 1_800_000_000).data.object
const snapshotOf = (fields: Partial<SubscriptionFields> = {}) => readSnapshot(objectOf(fields))!

describe('readSnapshot', () => {
  it('reads a bundle with its owner', () => {
    expect(snapshotOf({ pack: 'five', quantity: 7, unit: 2200 })).toMatchObject({
      ...{ status: 'ACTIVE', package: 'FIVE', kind: 'BUNDLE', seats: 7, unitMinor: 2200n, currency: 'USD', interval: 'MONTH' },
      owner: { ownerType: 'ORGANIZATION', ownerId: organization },
    })
  })

  it('prefers the bundle of the price, because the portal changes it', () => {
    const object = objectOf({ pack: 'three' })
    const [item] = object.items.data
    const moved = { ...object, items: { data: [{ ...item, price: { ...item!.price, metadata: { package: 'ten' } } }] } }
    expect(readSnapshot(moved)?.package).toBe('TEN')
  })

  it('finds no owner in metadata that name none', () => {
    expect(snapshotOf({ owner: 'nobody' }).owner).toBeNull()
    expect(snapshotOf({ ownerType: 'household' }).owner).toBeNull()
  })

  it.each([{}, { id: 'sub_1', customer: 'cus_1', status: 'strange' }, { ...objectOf(), items: { data: [] } }])('reads nothing of another object', object => {
    expect(readSnapshot(object)).toBeNull()
  })
})

const known = (fields: Partial<SubscriptionFields>, learned: number): WorkspaceVerificationRow => ({
  ...{ id: organization, ownerType: 'ORGANIZATION', ownerId: organization, verifiedAt: null, processorSubscriptionId: 'sub_1' },
  ...commonOf(null, snapshotOf(fields), at(learned)),
  ...{ reconciledAt: at(0), version: 1, createdAt: at(0), updatedAt: at(0), createdBy: 'processor' },
})
const judged = (present: WorkspaceVerificationRow | null, fields: Partial<SubscriptionFields>, occurred: number, isAnswer = false) =>
  judge(present, commonOf(present, snapshotOf(fields), at(occurred)), at(occurred), isAnswer)

describe('judge', () => {
  it('writes what is unknown, and what is newer', () => {
    expect(judged(null, {}, 10)).toMatchObject({ write: { status: 'ACTIVE' } })
    expect(judged(known({}, 10), { status: 'past_due' }, 11)).toMatchObject({ write: { status: 'PAST_DUE', pastDueSince: at(11), learnedAt: at(11) } })
  })

  it('leaves what is older', () => {
    expect(judged(known({}, 10), { status: 'past_due' }, 9)).toEqual({ ignore: 'STALE' })
  })

  it('asks the processor about two of one second that differ, and takes its answer', () => {
    expect(judged(known({}, 10), { status: 'past_due' }, 10)).toBe('ASK')
    expect(judged(known({}, 10), {}, 10)).toEqual({ ignore: 'SAME' })
    expect(judged(known({}, 10), { status: 'past_due' }, 10, true)).toMatchObject({ write: { status: 'PAST_DUE' } })
  })

  it('takes no answer that was asked for before something newer', () => {
    expect(judged(known({}, 10), { status: 'past_due' }, 9, true)).toEqual({ ignore: 'STALE' })
  })

  it('ends for good, by an old event too', () => {
    expect(judged(known({}, 10), { status: 'canceled' }, 5)).toMatchObject({ write: { status: 'CANCELED', endedAt: at(5), learnedAt: at(10) } })
    expect(judged(known({ status: 'canceled' }, 10), {}, 99)).toEqual({ ignore: 'FINAL' })
    expect(judged(known({ status: 'canceled' }, 10), {}, 99, true)).toEqual({ ignore: 'FINAL' })
  })

  it('keeps since when a payment is due', () => {
    expect(judged(known({ status: 'past_due' }, 10), { status: 'past_due', unit: 1 }, 20)).toMatchObject({ write: { pastDueSince: at(10) } })
  })
})

const member = (userId: string) => ({ userId, kind: 'HUMAN' as const })
const seat = (userId: string, seconds: number, releasedAt: Date | null = null) => ({ userId, assignedAt: at(seconds), releasedAt })
const members = ['a', 'b', 'c'].map(member)

describe('planSeats', () => {
  it('gives seats in order of joining while there are any', () => {
    expect(planSeats(2, members, [])).toEqual({ release: [], forget: [], assign: members.slice(0, 2), waiting: 1 })
  })

  it('releases seats of those who left, and gives them on', () => {
    expect(planSeats(1, members.slice(1), [seat('a', 1)])).toMatchObject({ release: [{ userId: 'a' }], assign: [{ userId: 'b' }], waiting: 1 })
  })

  it('releases the latest of too many', () => {
    const plan = planSeats(1, members, [seat('b', 1), seat('c', 2), seat('a', 2)])
    expect(plan.release.map(({ userId }) => userId)).toEqual(['a', 'c'])
    expect(plan).toMatchObject({ assign: [], waiting: 2 })
  })

  it('gives none to a member whose seat was released', () => {
    expect(planSeats(3, members, [seat('a', 1, at(2))])).toMatchObject({ release: [], assign: [{ userId: 'b' }, { userId: 'c' }], waiting: 0 })
    expect(planSeats(3, members.slice(1), [seat('a', 1, at(2))]).forget).toHaveLength(1)
  })
})

const counting = (plan: Parameters<typeof rightsOf>[0][number]['plan'], seats = 0) => ({ plan, seats, currentPeriodEnd: at(9), pastDueSince: null })

describe('rightsOf', () => {
  it('is that of the largest subscription', () => {
    expect(rightsOf([counting('FREE_WORKSPACE'), counting('FIVE', 2), counting('THREE', 9)], [])).toMatchObject({ plan: 'FIVE', limit: 5, seats: 2 })
    expect(rightsOf([], [])).toEqual({ plan: 'NONE', limit: 0, apps: [], seats: 0, validUntil: null })
  })

  it('has no limit for the bundle of all apps, and for the organization that looks after the platform', () => {
    expect(rightsOf([counting('EVERYTHING', 1)], []).limit).toBeNull()
    expect(rightsOf([counting('PLATFORM')], [])).toMatchObject({ plan: 'NONE', limit: null })
  })

  it('ends a week after a payment failed', () => {
    expect(rightsOf([{ ...counting('TEN', 1), pastDueSince: at(0) }], []).validUntil).toEqual(at(7 * 86_400))
  })
})

describe('isEntitled', () => {
  const rights = { limit: 2, apps: ['publishing', 'agents', 'payments'] }
  it.each([
    ['publishing', 'PLATFORM', true],
    ['agents', 'PLATFORM', true],
    ['payments', 'PLATFORM', false],
    ['providers', 'PLATFORM', false],
    ['launcher', 'PLATFORM', true],
    ['route-finder', 'STORE', true],
  ])('of %s, which is %s: %s', (app, origin, expected) => {
    expect(isEntitled({ app, origin }, rights)).toBe(expected)
  })
})

describe('readReturnTo', () => {
  const dashboard = 'http://launcher.localhost:4000'
  it.each([
    ['/settings', `${dashboard}/settings`],
    [`${dashboard}/apps?x=1`, `${dashboard}/apps?x=1`],
  ])('takes %s', (given, address) => {
    expect(readReturnTo(given, dashboard)).toBe(address)
  })

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    'settings',
    '',
    `${dashboard}.evil.example/`,
    'javascript:alert(1)',
  ])('refuses %s', given => {
    expect(() => readReturnTo(given, dashboard)).toThrow(expect.objectContaining({ extensions: expect.objectContaining({ code: 'BAD_USER_INPUT' }) }))
  })
})

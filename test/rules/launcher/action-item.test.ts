import { describe, expect, test } from 'vitest'
import { createMemoryEvents, type Resync } from '../../../platform/events.ts'
import {
  announceItem,
  completing,
  isSeenBy,
  openedBy,
  opening,
  requireMayChange,
  resolving,
  resyncItems,
  topicOf,
  topicsFor,
} from '../../../subgraphs/launcher/action-item/rules.ts'
import type { ActionItemRow } from '../../../subgraphs/launcher/stores/inbox/action-item.ts'
import { refusalOf } from '../refusal.ts'

const at = (seconds: number) => new Date(Date.UTC(2027, 2, 1, 9, 0, seconds))
const told = {
  key: 'post:1',
  kind: 'POST_FAILED',
  organizationId: 'o',
  subjectId: 's',
  title: 'A post failed',
  url: 'https://a.test/',
  at: at(10).toISOString(),
  audience: 'organization',
} as const
const opened = openedBy(told)
const item = (more: Partial<ActionItemRow>): ActionItemRow =>
  ({ ...opened, id: 'i', app: 'publishing', key: 'k', version: 3, closedAt: null, closedBy: null, ...more }) as ActionItemRow

describe('G-11 attention facts of a service', () => {
  test('is stored as sent; an omitted value is absent', () => {
    expect(opened).toEqual({
      ...{ kind: 'POST_FAILED', severity: 'HIGH', organizationId: 'o', audience: 'organization', userId: null },
      ...{ subjectId: 's', title: 'A post failed', body: null, url: 'https://a.test/', dueAt: null, openedAt: at(10) },
    })
    const whole = { ...told, audience: 'person', userId: 'u', severity: 'LOW', body: 'More', dueAt: at(50).toISOString() } as const
    expect(openedBy(whole)).toMatchObject({ audience: 'person', userId: 'u', severity: 'LOW', body: 'More', dueAt: at(50) })
  })

  test.each([
    ['CRITICAL', ['PAYMENT_UNKNOWN', 'DISPUTE', 'BUDGET_EXHAUSTED']],
    [
      'HIGH',
      ['POST_FAILED', 'OUTCOME_UNKNOWN', 'CONNECTION_BROKEN', 'STEP_UNKNOWN', 'CREDENTIAL_FAILING', 'WEBHOOK_DEAD', 'CALLBACK_DEAD', 'SUBSCRIPTION_PAST_DUE'],
    ],
    ['NORMAL', ['ANYTHING_ELSE']],
    ['LOW', ['MODEL_DEPRECATED']],
  ])('is %s by itself: %j', (severity, kinds) => {
    for (const kind of kinds) expect(openedBy({ ...told, kind }).severity, kind).toBe(severity)
  })
})

describe('G-11 an item', () => {
  const anew = { ...opened, status: 'OPEN', closedAt: null, closedBy: null }

  test.each<readonly [string, Partial<ActionItemRow>, object | null]>([
    ['open', { status: 'OPEN' }, anew],
    ['done before the cause came', { status: 'DONE', closedAt: at(9) }, anew],
    ['done in the same moment', { status: 'DONE', closedAt: at(10) }, null],
    ['done since', { status: 'DONE', closedAt: at(11) }, null],
    ['closed by its service, by whatever clock', { status: 'RESOLVED', closedAt: at(11) }, anew],
  ])('that was %s and is opened again becomes', (_, present, changes) => {
    expect(opening(item(present), opened)).toEqual(changes)
  })

  test('that other people see is no longer assigned', () => {
    expect(opening(item({ status: 'OPEN', audience: 'managers' }), opened)).toEqual({ ...anew, assigneeId: null })
  })

  test.each<readonly [ActionItemRow['status'], object | null]>([
    ['OPEN', { status: 'RESOLVED', closedAt: at(20), closedBy: null }],
    ['DONE', { status: 'RESOLVED', closedAt: at(20), closedBy: null }],
    ['RESOLVED', null],
  ])('that is %s and whose cause is gone becomes %j', (status, changes) => {
    expect(resolving({ status }, at(20))).toEqual(changes)
  })

  test('is marked done once by a person who sees it, and not when its cause is gone', () => {
    expect(completing({ status: 'OPEN' }, at(20), 'user:1')).toEqual({ status: 'DONE', closedAt: at(20), closedBy: 'user:1' })
    expect(completing({ status: 'DONE' }, at(20), 'user:1')).toEqual({})
    expect(refusalOf(() => completing({ status: 'RESOLVED' }, at(20), 'user:1')).extensions).toEqual({ code: 'CONFLICT', reason: 'RESOLVED' })
  })

  test('is seen by members, by managers, or by its person', () => {
    const place = { organizationId: 'o', userId: null }
    expect([['member'], ['admin'], null].map(roles => isSeenBy({ ...place, audience: 'organization' }, 'me', roles))).toEqual([true, true, false])
    expect([['member'], ['admin'], null].map(roles => isSeenBy({ ...place, audience: 'managers' }, 'me', roles))).toEqual([false, true, false])
    const mine = { organizationId: 'o', audience: 'person', userId: 'me' } as const
    expect([isSeenBy(mine, 'me', ['viewer']), isSeenBy(mine, 'me', null), isSeenBy(mine, 'you', ['owner'])]).toEqual([true, false, false])
    expect([isSeenBy({ ...mine, organizationId: null }, 'me', null), isSeenBy({ ...mine, organizationId: null }, 'you', null)]).toEqual([true, false])
  })

  test('is changed by people, and by programs with the scope to write', () => {
    const write = 'launcher:notifications.write'
    requireMayChange({ kind: 'user', scopes: [] })
    for (const kind of ['apiKey', 'service'] as const) {
      requireMayChange({ kind, scopes: [write] })
      expect(refusalOf(() => requireMayChange({ kind, scopes: ['launcher:notifications.read'] })).code).toBe('FORBIDDEN')
    }
  })
})

describe('G-11 changes of an item', () => {
  const places = {
    all: { organizationId: 'o', audience: 'organization', userId: null },
    managers: { organizationId: 'o', audience: 'managers', userId: null },
    mine: { organizationId: 'o', audience: 'person', userId: 'me' },
    another: { organizationId: 'o', audience: 'person', userId: 'you' },
    alone: { organizationId: null, audience: 'person', userId: 'me' },
    elsewhere: { organizationId: 'p', audience: 'organization', userId: null },
  } as const

  test.each<readonly [string, Parameters<typeof topicsFor>[0], readonly (keyof typeof places)[]]>([
    ['a member', { organizationId: 'o', userId: 'me', roles: ['member'] }, ['all', 'mine']],
    ['an admin', { organizationId: 'o', userId: 'me', roles: ['admin'] }, ['all', 'managers', 'mine']],
    ['an owner', { organizationId: 'o', userId: 'me', roles: ['owner'] }, ['all', 'managers', 'mine']],
    ['a key', { organizationId: 'o', userId: null, roles: [] }, ['all']],
    ['a person alone', { organizationId: null, userId: 'me', roles: [] }, ['alone']],
    ['nobody', { organizationId: null, userId: null, roles: [] }, []],
  ])('are heard by %s where that one sees it', (_, viewer, heard) => {
    const topics = topicsFor(viewer)
    expect(Object.entries(places).flatMap(([name, place]) => (topics.includes(topicOf(place)) ? [name] : []))).toEqual(heard)
    expect(topics).toHaveLength(heard.length)
  })

  test('are published with its version, and missed ones are searched for on the same topics', async () => {
    const announced: unknown[][] = []
    const looks: (readonly [string, Resync])[] = []
    const events = {
      ...createMemoryEvents(),
      announce: (...all: unknown[]) => void announced.push(all),
      resync: (prefix: string, look: Resync) => void looks.push([prefix, look]),
    }
    announceItem(events, item({ status: 'OPEN' }))
    expect(announced).toEqual([[topicOf(places.all), { id: 'i' }, 3]])
    const asked: unknown[] = []
    resyncItems(events, {
      async items(place, since) {
        asked.push([place, since])
        return [{ id: 'i', version: 3 }]
      },
      snoozes: async (userId, organizationId, since) => [{ itemId: `${userId} ${organizationId}`, updatedAt: since }],
    })
    const [[prefix, look]] = looks as [readonly [string, Resync]]
    for (const place of Object.values(places)) {
      expect(topicOf(place).startsWith(prefix)).toBe(true)
      const snoozed = place.userId === null ? [] : [{ ids: { id: `${place.userId} ${place.organizationId}`, snooze: place.userId }, mark: at(1).getTime() }]
      expect(await look(topicOf(place).slice(prefix.length), at(1), false)).toEqual([{ ids: { id: 'i' }, mark: 3 }, ...snoozed])
    }
    expect(asked).toEqual(Object.values(places).map(place => [place, at(1)]))
  })
})

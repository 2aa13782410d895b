import { describe, expect, test } from 'vitest'
import { healthFacts } from '../../../subgraphs/publishing/connection/health.ts'
import { isChosen, placeOf, targetProblems, type WithPlaces } from '../../../subgraphs/publishing/connection/places.ts'
import { chooseConnection } from '../../../subgraphs/publishing/connection/rules.ts'
import { expiringMs, healthOf, type KeptPlace, keptPlaces } from '../../../subgraphs/publishing/network/account/account.ts'
import type { Target } from '../../../subgraphs/publishing/network/publication.ts'
import { type ConnectionRow, disconnected } from '../../../subgraphs/publishing/stores/connection.ts'
import { inMs, now } from './post-row.ts'

const page = (externalId: string, changes: Partial<KeptPlace> = {}): KeptPlace => ({
  kind: 'PAGE',
  externalId,
  name: `Page ${externalId}`,
  selected: false,
  isDefault: false,
  available: true,
  reason: null,
  ...changes,
})
const target = (kind: Target['kind'], externalId: string): Target => ({ kind, externalId, name: null })
const facebook = (...targets: KeptPlace[]): WithPlaces => ({ platform: 'FACEBOOK', active: true, externalAccountId: 'me', targets })
const chosen = { selected: true }
const usual = { selected: true, isDefault: true }

describe('the place of a post within an account', () => {
  test('is the account itself where a network has no places, and where the post names it', () => {
    const photos: WithPlaces = { platform: 'INSTAGRAM', active: true, externalAccountId: 'photo-1', targets: [] }
    expect(placeOf({ ...photos, platform: 'X' }, { target: null })).toBe(null)
    expect(placeOf(photos, { target: null })).toBe(null)
    expect(placeOf(photos, { target: target('PHOTO_ACCOUNT', 'photo-1') })).toBe(null)
    expect(placeOf(photos, { target: target('PHOTO_ACCOUNT', 'photo-2') })).toBe('TARGET_UNAVAILABLE')
  })

  test('is the post’s target, else the default; an unselected, unavailable or missing one is none', () => {
    const connection = facebook(page('1', usual), page('2', chosen), page('3'), page('4', { ...chosen, available: false, reason: 'closed' }))
    expect(placeOf(connection, { target: null })).toEqual({ kind: 'PAGE', externalId: '1', name: 'Page 1' })
    expect(placeOf(connection, { target: target('PAGE', '2') })).toEqual({ kind: 'PAGE', externalId: '2', name: 'Page 2' })
    for (const id of ['3', '4', '5']) expect(placeOf(connection, { target: target('PAGE', id) })).toBe('TARGET_UNAVAILABLE')
    expect(placeOf(connection, { target: target('GROUP', '2') })).toBe('TARGET_UNAVAILABLE')
    expect(placeOf(facebook(page('1')), { target: null })).toBe('TARGET_MISSING')
    expect(placeOf(facebook(page('1', { ...usual, available: false })), { target: null })).toBe('TARGET_UNAVAILABLE')
  })

  test('decides the connection: only one with the target selected', () => {
    const of = (id: string, authorId: string, connection: WithPlaces) => ({ id, authorId, connectedAt: now, ...connection })
    const [own, other] = [of('a', 'author', facebook(page('1', usual), page('2'))), of('b', 'somebody', facebook(page('2', usual)))]
    expect(chooseConnection([own, other], 'FACEBOOK', 'author')).toBe(own)
    expect(chooseConnection([own, other], 'FACEBOOK', 'author', target('PAGE', '2'))).toBe(other)
    expect(chooseConnection([own, other], 'FACEBOOK', 'author', target('PAGE', '3'))).toBe(null)
    expect(isChosen(own, null)).toBe(true)
  })

  test('is checked before sending', () => {
    const codes = (connections: WithPlaces[], named: Target | null, platform: WithPlaces['platform'] = 'FACEBOOK') =>
      targetProblems(connections, platform, named).map(({ severity, code }) => `${severity} ${code}`)
    const connection = facebook(page('1', usual), page('2'), page('3', { ...chosen, available: false, reason: 'the group is archived' }))
    expect(codes([], null)).toEqual(['WARNING NO_CONNECTION'])
    expect(codes([{ ...connection, active: false }], target('PAGE', '9'))).toEqual(['WARNING NO_CONNECTION'])
    expect(codes([connection], null)).toEqual([])
    expect(codes([facebook(page('1'))], null)).toEqual(['ERROR TARGET_MISSING'])
    expect(codes([connection], target('PAGE', '1'))).toEqual([])
    expect(codes([connection], target('PAGE', '2'))).toEqual(['ERROR TARGET_UNAVAILABLE'])
    expect(codes([connection], target('PAGE', '9'))).toEqual(['ERROR TARGET_UNKNOWN'])
    expect(targetProblems([connection], 'FACEBOOK', target('PAGE', '3'))[0]!.message).toContain('the group is archived')
    const x: WithPlaces = { platform: 'X', active: true, externalAccountId: '1', targets: [] }
    expect(codes([x], null, 'X')).toEqual([])
  })
})

describe('places of an authorized account', () => {
  const listed = (externalId: string, available = true) => ({
    kind: 'PAGE' as const,
    externalId,
    name: externalId,
    available,
    reason: available ? null : 'closed',
  })
  const marks = (places: readonly KeptPlace[]) =>
    places.map(({ externalId, selected, isDefault }) => `${externalId}${selected ? '+' : ''}${isDefault ? '*' : ''}`)

  test('start with the first that accepts posts, which is the default', () => {
    expect(marks(keptPlaces([listed('1', false), listed('2'), listed('3')], []))).toEqual(['1', '2+*', '3'])
    expect(marks(keptPlaces([listed('1', false)], []))).toEqual(['1'])
  })

  test('keep a person’s selection, and lose missing ones', () => {
    const before = [page('1', chosen), page('2', usual), page('3')]
    expect(marks(keptPlaces([listed('3'), listed('2'), listed('1')], before))).toEqual(['3', '2+*', '1+'])
    expect(marks(keptPlaces([listed('1'), listed('4')], before))).toEqual(['1+*', '4'])
    expect(marks(keptPlaces([listed('4'), listed('5')], before))).toEqual(['4+*', '5'])
    // The first remaining target that takes posts becomes the default.
    expect(marks(keptPlaces([listed('1', false), listed('3')], [page('1', chosen), page('2', usual), page('3', chosen)]))).toEqual(['1+', '3+*'])
  })
})

describe('the health of a connection', () => {
  const row = (changes: Partial<ConnectionRow> = {}) =>
    ({
      id: 'c',
      platform: 'X',
      active: true,
      accountName: '@demo',
      targets: [],
      reconnectBefore: null,
      deactivatedReason: null,
      updatedAt: now,
      ...changes,
    }) as ConnectionRow
  const healthy = (changes: Partial<ConnectionRow> = {}) => ({ ...row(changes), health: healthOf(row(changes), now) })

  test('follows from its stored state', () => {
    expect(healthOf(row(), now)).toBe('HEALTHY')
    expect(healthOf(row({ reconnectBefore: inMs(expiringMs + 1) }), now)).toBe('HEALTHY')
    expect(healthOf(row({ reconnectBefore: inMs(expiringMs) }), now)).toBe('EXPIRING')
    expect(healthOf(row({ platform: 'FACEBOOK' }), now)).toBe('NEEDS_SELECTION')
    expect(healthOf(row({ platform: 'FACEBOOK', targets: [page('1', { ...usual, available: false })] }), now)).toBe('NEEDS_SELECTION')
    expect(healthOf(row({ platform: 'FACEBOOK', targets: [page('1', usual)] }), now)).toBe('HEALTHY')
    expect(healthOf(row({ active: false }), now)).toBe('NEEDS_RECONNECT')
  })

  test('has managers see to it when it must be renewed by a person, once, until it is mended', () => {
    const place = { organizationId: '0198c0de-0000-7000-8000-000000000001', publicUrl: 'http://localhost:4000' }
    const facts = (before: ConnectionRow | null, after: ConnectionRow | null) =>
      healthFacts(before, after, place).map(({ kind, body }) => `${kind} ${'kind' in body ? body.kind : ''}`)
    const [good, expiring] = [healthy(), healthy({ reconnectBefore: inMs(1) })]
    const broken = { ...good, ...disconnected('X refused the grant: connect the account again.') } as ConnectionRow
    expect(facts(null, good)).toEqual([])
    expect(facts(good, expiring)).toEqual(['attention.opened CONNECTION_EXPIRING'])
    expect(facts(expiring, { ...expiring, updatedAt: inMs(1) })).toEqual([])
    expect(facts(expiring, broken)).toEqual(['attention.opened CONNECTION_BROKEN'])
    expect(facts(broken, good)).toEqual(['attention.closed '])
    expect(facts(broken, null)).toEqual(['attention.closed '])
    expect(healthFacts(good, expiring, place)[0]!.body).toMatchObject({ audience: 'managers', subjectId: 'c', key: 'connection:c' })
  })
})

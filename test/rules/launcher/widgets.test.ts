import { describe, expect, it } from 'vitest'
import { readPayload } from '../../../subgraphs/launcher/engines/widgets/apps/payload.ts'
import { type Share, shareOf } from '../../../subgraphs/launcher/engines/widgets/apps/share.ts'
import { degraded, failureOf, seenOf, staleMs } from '../../../subgraphs/launcher/engines/widgets/reading.ts'

const read = (body: unknown, isDevelopment = false) => readPayload(JSON.stringify(body), isDevelopment)
const statistic = { key: 'open', label: 'Open', value: 3 }

describe('readPayload', () => {
  it('takes any part alone, and drops members that it does not know or that are too many', () => {
    expect(read({ statistics: [{ ...statistic, more: 1 }], extra: true })).toEqual({ statistics: [statistic], items: [], nextAction: null, chart: null })
    expect(read({ items: Array.from({ length: 30 }, (_, at) => ({ id: `${at}`, title: 'x' })) })!.items).toHaveLength(20)
    expect(read({ chart: { title: 'x', points: Array.from({ length: 70 }, () => ({ label: 'x', value: 1.5 })) } })!.chart!.points).toHaveLength(60)
    expect(read({ nextAction: { label: 'Go', url: 'https://a.test/' } })!.nextAction).toEqual({ label: 'Go', url: 'https://a.test/' })
  })

  it('writes moments in UTC', () => {
    expect(read({ items: [{ id: 'a', title: 'x', at: '2026-03-02T10:00:00+01:00' }] })!.items[0]!.at).toBe('2026-03-02T09:00:00.000Z')
  })

  it.each([
    ['nothing', {}],
    ['null', null],
    ['a list', []],
    ['a part of another type', { statistics: 'three' }],
    ['a fraction', { statistics: [{ ...statistic, value: 1.5 }] }],
    ['an integer of more than 32 bits', { statistics: [{ ...statistic, value: 2 ** 31 }] }],
    ['a key that is too long', { statistics: [{ ...statistic, key: 'x'.repeat(41) }] }],
    ['a title that is too long', { items: [{ id: 'a', title: 'x'.repeat(201) }] }],
    ['a link without TLS', { items: [{ id: 'a', title: 'x', url: 'http://a.test/' }] }],
    ['a link to this machine', { nextAction: { label: 'x', url: 'http://localhost:4000/' } }],
    ['a script for a link', { nextAction: { label: 'x', url: 'javascript:alert(1)' } }],
    ['a NUL', { items: [{ id: 'a', title: 'a\0b' }] }],
  ])('refuses %s', (_, body) => {
    expect(read(body)).toBeNull()
  })

  it('takes a link to this machine in development, and refuses what is no JSON', () => {
    expect(read({ nextAction: { label: 'x', url: 'http://localhost:4000/' } }, true)).not.toBeNull()
    expect(readPayload('{"statistics": [', false)).toBeNull()
  })
})

describe('degraded', () => {
  const readAt = new Date('2026-03-02T09:00:00Z')
  const good = { payload: { statistics: [], items: [] } as never, readAt }
  const failure = failureOf('TIMEOUT')
  const stateAfter = (ms: number) => degraded(good, failure, new Date(readAt.getTime() + ms)).state

  it('shows the last payload for five minutes, and an overview afterwards or without one', () => {
    expect([stateAfter(0), stateAfter(staleMs), stateAfter(staleMs + 1)]).toEqual(['STALE', 'STALE', 'OVERVIEW'])
    expect(degraded(null, failure, readAt)).toEqual({ state: 'OVERVIEW', failure, payload: null, readAt: null })
  })

  it('looks the same however old it is, and different for another reason', () => {
    expect(seenOf(degraded(good, failure, readAt))).toBe(seenOf(degraded(good, failure, new Date(readAt.getTime() + 9))))
    expect(seenOf(degraded(good, failure, readAt))).not.toBe(seenOf(degraded(good, failureOf('REFUSED'), readAt)))
  })
})

describe('shareOf', () => {
  /** A small generator of numbers (mulberry32), so that a failing run can be repeated. */
  function randomFrom(seed: number) {
    let state = seed
    return () => {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
    }
  }

  /** Everything that decides what an app may answer to a viewer. */
  interface Asked {
    readonly organizationId: string | null
    readonly userId: string
    readonly roles: readonly string[]
    readonly scopes: readonly string[]
    readonly entry: { readonly id: string; readonly widgetAudience: 'ORGANIZATION' | 'USER' }
    readonly installationId: string
  }

  /** What the app was told of a viewer, or may depend on: written down independently of the key. */
  function toldOf({ organizationId, userId, roles, scopes, entry, installationId }: Asked): string {
    const isManager = roles.includes('owner') || roles.includes('admin')
    if (organizationId === null) return `${entry.id} ${installationId} personal ${userId}`
    if (entry.widgetAudience === 'USER') return `${entry.id} ${installationId} ${organizationId} ${isManager} ${userId}`
    return `${entry.id} ${installationId} ${organizationId} ${isManager} ${scopes.includes('launcher:widgets.read')}`
  }

  it.each([1, 2, 3, 4])('gives two viewers one key exactly if their apps are told the same (seed %i)', seed => {
    const random = randomFrom(seed)
    const of = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!
    const some = (): Asked => {
      const organizationId = of(['o1', 'o2', null])
      return {
        organizationId,
        userId: of(['u1', 'u2', 'u3']),
        roles: organizationId === null ? [] : of([['owner'], ['admin'], ['member'], ['viewer'], ['member', 'admin']]),
        scopes: of([['launcher:widgets.read'], ['launcher:apps.read', 'launcher:widgets.read'], ['launcher:apps.read']]),
        entry: { id: of(['e1', 'e2']), widgetAudience: of(['ORGANIZATION', 'USER'] as const) },
        // An app that was removed and installed anew has another installation.
        installationId: of(['i1', 'i2']),
      }
    }
    const shares = Array.from({ length: 400 }, some).map(viewer => ({ told: toldOf(viewer), share: shareOf(viewer, viewer.entry, viewer.installationId) }))
    const toldByKey = new Map<string, Set<string>>()
    const keysByTold = new Map<string, Set<string>>()
    const audiences = new Map(shares.map(({ told, share }) => [told, share] as const satisfies readonly [string, Share]))
    for (const { told, share } of shares) {
      toldByKey.set(share.key, (toldByKey.get(share.key) ?? new Set()).add(told))
      keysByTold.set(told, (keysByTold.get(told) ?? new Set()).add(share.key))
    }
    expect([...toldByKey.values()].filter(told => told.size > 1)).toEqual([])
    expect([...keysByTold.values()].filter(keys => keys.size > 1)).toEqual([])
    expect(audiences.size).toBeGreaterThan(20)
  })

  it('names the person to the app in personal context and for widgets of persons alone', () => {
    const viewer = { organizationId: 'o', userId: 'u', roles: ['member'], scopes: [] }
    expect(shareOf(viewer, { id: 'e', widgetAudience: 'ORGANIZATION' }, 'i')).toMatchObject({ userId: null, organizationId: 'o', role: 'member' })
    expect(shareOf(viewer, { id: 'e', widgetAudience: 'USER' }, 'i')).toMatchObject({ userId: 'u', organizationId: 'o', role: 'member' })
    expect(shareOf({ ...viewer, organizationId: null }, { id: 'e', widgetAudience: 'ORGANIZATION' }, 'i')).toMatchObject({
      userId: 'u',
      organizationId: null,
      role: null,
    })
  })
})

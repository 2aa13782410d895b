import { describe, expect, it } from 'vitest'
import { fitsContext, isLaunchable, maintainedUntil } from '../../../subgraphs/launcher/catalog/entry/rules.ts'
import { requireInstallable } from '../../../subgraphs/launcher/catalog/installation/rules.ts'
import { readCatalogue, readListed } from '../../../subgraphs/launcher/engines/catalog/read.ts'
import { wordsOf } from '../../../subgraphs/launcher/engines/catalog/words.ts'

const app = { slug: 'route-finder', title: 'Route Finder', kind: 'application', contexts: ['organization'] }

describe('readListed', () => {
  it('reads an app with what it mentions, under an id of its slug', () => {
    const read = readListed({ ...app, widget: { url: 'https://a.test/w', audience: 'user' }, capabilities: ['household_capable'] })
    expect(read).toMatchObject({
      app: 'route-finder',
      origin: 'STORE',
      widgetAudience: 'USER',
      widgetUrl: 'https://a.test/w',
      capabilities: ['HOUSEHOLD_CAPABLE'],
    })
    expect(readListed({ ...app, title: 'Other' })).toMatchObject({ id: read!.id })
    expect(readListed({ ...app, title: 'Other' })!.digest).not.toBe(readListed(app)!.digest)
  })

  it('takes an app that names an organization as that organization’s own', () => {
    expect(readListed({ ...app, organizationId: '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e' })).toMatchObject({ origin: 'CUSTOM' })
  })

  it.each([
    ['a slug with a slash', { slug: 'a/b' }],
    ['an address that is no web address', { launchUrl: 'javascript:alert(1)' }],
    ['no context', { contexts: [] }],
    ['an unknown kind', { kind: 'toy' }],
    ['a title that is too long', { title: 'x'.repeat(81) }],
    ['a NUL', { summary: 'a\0b' }],
  ])('refuses an app with %s', (_, wrong) => {
    expect(readListed({ ...app, ...wrong })).toBeNull()
  })
})

describe('readCatalogue', () => {
  it('leaves out apps that cannot be read', () => {
    expect(readCatalogue(JSON.stringify({ apps: [app, { slug: 'x' }, 7], nextCursor: 'a' }))).toMatchObject({
      apps: [{ app: 'route-finder' }],
      nextCursor: 'a',
    })
  })

  it.each(['', '[]', '{"apps": 1}', 'null'])('refuses %j, which is no page', text => {
    expect(readCatalogue(text)).toBeNull()
  })
})

describe('wordsOf', () => {
  it.each([
    ['Route Finder', 'route:* & finder:*'],
    ['  the app for ROUTES ', 'routes:*'],
    ['the', 'the:*'],
    ["o'neill & sons | !x", 'o:* & neill:* & sons:* & x:*'],
    ['Größe 寿司', 'größe:* & 寿司:*'],
  ])('splits %j into %j', (search, query) => {
    expect(wordsOf(search)?.query).toBe(query)
  })

  it('finds no word in signs alone, and takes eight at most', () => {
    expect(wordsOf('&|!():*<->')).toBeNull()
    expect(wordsOf(Array.from({ length: 20 }, (_, at) => `w${at}`).join(' '))?.each).toHaveLength(8)
  })
})

const entry = { app: 'a', origin: 'STORE', kind: 'APPLICATION', lifecycle: 'ACTIVE', contexts: ['ORGANIZATION'], capabilities: [] as string[] } as const

describe('requireInstallable', () => {
  it('lets an app be installed in a context that it fits', () => {
    expect(() => requireInstallable(entry, 'organization', 499, null)).not.toThrow()
    expect(() => requireInstallable({ ...entry, capabilities: ['HOUSEHOLD_CAPABLE'] }, 'personal', 0, null)).not.toThrow()
  })

  it.each([
    ['NOT_LAUNCHABLE', { ...entry, kind: 'TECHNICAL' as const }, 'organization', 0],
    ['NOT_LAUNCHABLE', { ...entry, lifecycle: 'RETIRED' as const }, 'organization', 0],
    ['CONTEXT', entry, 'personal', 0],
    ['NOT_ENTITLED', { ...entry, origin: 'PLATFORM' as const }, 'organization', 0],
    ['LIMIT', entry, 'organization', 500],
  ] as const)('refuses with %s', (reason, wrong, context, count) => {
    expect(() => requireInstallable(wrong, context, count, { limit: 3, apps: ['x', 'y', 'z'] })).toThrow(
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'CONFLICT', reason }) }),
    )
  })
})

describe('an entry', () => {
  it('is launchable while it is in use or deprecated', () => {
    expect([isLaunchable(entry), isLaunchable({ ...entry, lifecycle: 'DEPRECATED' }), isLaunchable({ ...entry, lifecycle: 'RETIRED' })]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('fits the contexts that it names, and a household counts as personal', () => {
    expect([fitsContext(entry, 'organization'), fitsContext(entry, 'personal')]).toEqual([true, false])
    expect(fitsContext({ contexts: [], capabilities: ['HOUSEHOLD_CAPABLE'] }, 'personal')).toBe(true)
  })

  it('is under maintenance until its end, and not at it', () => {
    const until = new Date('2026-03-02T09:00:00Z')
    expect(maintainedUntil({ maintenanceUntil: until }, new Date(until.getTime() - 1))).toEqual(until)
    expect(maintainedUntil({ maintenanceUntil: until }, until)).toBeNull()
  })
})

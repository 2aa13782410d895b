import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { documented } from '../../../config/families.ts'
import { readConfig } from '../../../config.ts'
import { systemClock } from '../../../platform/clock.ts'
import type { WayOut } from '../../../platform/outbound/outbound.ts'
import { playedPlatforms } from '../../../router/start/sandbox.ts'
import { applicationAt, type PlayedName, playedNames, twinOf } from '../../../sandbox/networks.ts'
import { openApplications } from '../../../subgraphs/publishing/network/account/applications.ts'
import { addressesOf, isTrial, type Protocol } from '../../../subgraphs/publishing/network/network.ts'
import { type Applications, everyNetwork, loadAdapters, type NetworkPlaces, platforms, whyAbsent } from '../../../subgraphs/publishing/network/networks.ts'

const spoken = platforms.flatMap(platform => {
  const { path, title, protocol } = everyNetwork[platform]
  return protocol ? [{ platform, path, title, protocol: protocol as Protocol }] : []
})
const adapters = await loadAdapters()
const refuse = () => Promise.reject(new Error('nothing leaves a test of rules'))
const nowhere: WayOut = Object.assign(refuse, { stream: refuse })

test('no two networks have a path or a beginning of settings in common', () => {
  const paths = platforms.map(platform => everyNetwork[platform].path)
  expect(new Set(paths).size).toBe(paths.length)
  expect(new Set(spoken.map(({ protocol }) => protocol.prefix)).size).toBe(spoken.length)
})

describe.each(spoken)('a supported network: $platform', ({ platform, path, title, protocol }) => {
  const { prefix, at, hasTrials } = protocol
  const { addresses, settings = {}, prefix: owner } = at ? (everyNetwork[at].protocol as Protocol) : protocol
  const application = { [`${prefix}_CLIENT_ID`]: 'id', [`${prefix}_CLIENT_SECRET`]: 'secret' }

  test('needs only its application, and has the network’s own addresses by default', () => {
    const fallbacks = Object.fromEntries(Object.entries({ ...addresses, ...settings }).map(([key, { fallback }]) => [key, fallback]))
    expect(readConfig(application).applications).toEqual({ [platform]: { clientId: 'id', clientSecret: 'secret', ...fallbacks } })
    expect(readConfig({}).applications).toEqual({})
  })

  test('is shown to operators under its title', () => {
    const namesOf = (of: string) => Object.values(documented.find(each => each.title === of)!.family).map(({ name }) => name)
    expect(namesOf(title)).toEqual(expect.arrayContaining(Object.keys(application)))
    expect(namesOf(at ? everyNetwork[at].title : title)).toEqual(expect.arrayContaining([expect.stringMatching(`^${owner}_\\w+_URL$`)]))
  })

  test('has a twin for each of its addresses', () => {
    expect(playedNames).toContain(path)
    const there = applicationAt('http://sandbox.test', path as PlayedName, { clientId: 'id', clientSecret: 'secret' })
    const told = ['clientId', 'clientSecret', ...Object.keys(addresses), ...Object.keys(settings), ...(hasTrials ? ['kind'] : [])]
    expect(Object.keys(there).sort()).toEqual(told.sort())
    for (const address of addressesOf(there)) expect(address).toMatch(new RegExp(`^http://sandbox\\.test/${twinOf(path as PlayedName)}(?:-legacy)?(?:/|$)`))
  })

  test('is opened for an application', () => {
    const open = (configured: Applications, whereabouts: NetworkPlaces) =>
      openApplications({
        appId: 'app_publishing',
        adapters,
        configured,
        whereabouts,
        call: refuse,
        clock: systemClock,
        log: pino({ level: 'silent' }),
        outbound: nowhere,
      })
    const set = open(readConfig(application).applications, {})
    expect([set.networks.get(platform)?.platform, set.of(platform)?.clientId]).toEqual([platform, readConfig(application).applications[platform]!.clientId])
    expect(open({}, {}).networks.size).toBe(0)
    expect(whyAbsent(platform)).toMatch(/application/)
  })
})

test('a network behind the gateway is not set up without a connection to the gateway', () => {
  const { applications } = readConfig({ YOUTUBE_CLIENT_ID: 'id', YOUTUBE_CLIENT_SECRET: 'secret', X_CLIENT_ID: 'id', X_CLIENT_SECRET: 'secret' })
  const more = {
    appId: 'app_publishing',
    adapters,
    configured: applications,
    whereabouts: {},
    clock: systemClock,
    log: pino({ level: 'silent' }),
    outbound: nowhere,
  }
  const [none, some] = [null, refuse].map(call => openApplications({ ...more, call }))
  expect([[...none!.networks.keys()], none!.of('YOUTUBE')]).toEqual([['X'], null])
  expect([...some!.networks.keys()]).toEqual(['X', 'YOUTUBE'])
})

describe('a trial application', () => {
  const trial = { TIKTOK_SANDBOX_CLIENT_ID: 'id', TIKTOK_SANDBOX_CLIENT_SECRET: 'secret' }
  const { AUTH_SECRET, ENCRYPTION_KEYS } = { AUTH_SECRET: 'x'.repeat(32), ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }
  const staging = { ENVIRONMENT: 'staging', AUTH_SECRET, ENCRYPTION_KEYS }

  test('is used in staging, before one of the network’s own, and marked as such', () => {
    const { TIKTOK } = readConfig({ ...staging, ...trial, TIKTOK_CLIENT_ID: 'other', TIKTOK_CLIENT_SECRET: 'other' }).applications
    expect(TIKTOK).toMatchObject({ clientId: 'id', clientSecret: 'secret', apiUrl: 'https://open.tiktokapis.com' })
    expect([isTrial(TIKTOK!), isTrial(readConfig({ ...staging, TIKTOK_CLIENT_ID: 'a', TIKTOK_CLIENT_SECRET: 'b' }).applications.TIKTOK!)]).toEqual([
      true,
      false,
    ])
    const { TIKTOK_SANDBOX_CLIENT_SECRET: _, ...half } = trial
    expect(() => readConfig({ ...staging, ...half })).toThrow('TIKTOK_SANDBOX_CLIENT_ID and TIKTOK_SANDBOX_CLIENT_SECRET')
  })

  test('is in the demo of staging only', () => {
    expect([playedPlatforms(true), playedPlatforms(false)]).toEqual([expect.arrayContaining(['X', 'TIKTOK']), expect.not.arrayContaining(['TIKTOK'])])
  })

  test('is ignored elsewhere', () => {
    expect(readConfig(trial).applications).toEqual({})
    expect(readConfig({ TIKTOK_SANDBOX_CLIENT_ID: 'id' }).applications).toEqual({})
  })
})

test('a network at another’s addresses follows them and its version, with an application of its own', () => {
  const { applications } = readConfig({
    LINKEDIN_PAGE_CLIENT_ID: 'a',
    LINKEDIN_PAGE_CLIENT_SECRET: 'b',
    LINKEDIN_API_URL: 'https://li.test/',
    LINKEDIN_VERSION: '202609',
  })
  expect(applications).toMatchObject({
    LINKEDIN_PAGE: { clientId: 'a', apiUrl: 'https://li.test', version: '202609', tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken' },
  })
  expect(applications).not.toHaveProperty('LINKEDIN')
  expect(() => readConfig({ LINKEDIN_VERSION: '2026' })).toThrow('LINKEDIN_VERSION: must be a month such as 202610')
})

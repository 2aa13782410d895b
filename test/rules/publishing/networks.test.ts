import { describe, expect, test } from 'vitest'
import { documented } from '../../../config/families.ts'
import { readConfig } from '../../../config.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import { applicationAt, type TwinName, twins } from '../../../sandbox/networks.ts'
import { addressesOf, type Protocol } from '../../../subgraphs/publishing/network/network.ts'
import { everyNetwork, loadAdapters, openNetworks, platforms, whyAbsent } from '../../../subgraphs/publishing/network/networks.ts'

const spoken = platforms.flatMap(platform => {
  const { path, title, protocol } = everyNetwork[platform]
  return protocol ? [{ platform, path, title, protocol: protocol as Protocol }] : []
})
const adapters = await loadAdapters()
const nowhere: Outbound = () => Promise.reject(new Error('nothing leaves a test of rules'))

test('no two networks have a path or a beginning of settings in common', () => {
  const paths = platforms.map(platform => everyNetwork[platform].path)
  expect(new Set(paths).size).toBe(paths.length)
  expect(new Set(spoken.map(({ protocol }) => protocol.prefix)).size).toBe(spoken.length)
})

describe.each(spoken)('a network whose protocol the platform speaks: $platform', ({ platform, path, title, protocol }) => {
  const { prefix, addresses } = protocol
  const application = { [`${prefix}_CLIENT_ID`]: 'id', [`${prefix}_CLIENT_SECRET`]: 'secret' }

  test('is set up by its application alone, and found where the network itself says', () => {
    const fallbacks = Object.fromEntries(Object.entries(addresses).map(([key, { fallback }]) => [key, fallback]))
    expect(readConfig(application).applications).toEqual({ [platform]: { clientId: 'id', clientSecret: 'secret', ...fallbacks } })
    expect(readConfig({}).applications).toEqual({})
  })

  test('is told to operators under its title', () => {
    const family = documented.find(each => each.title === title)!.family
    expect(Object.values(family).map(({ name }) => name)).toEqual(
      expect.arrayContaining([...Object.keys(application), expect.stringMatching(`^${prefix}_\\w+_URL$`)]),
    )
  })

  test('has a twin, which stands for each of its addresses', () => {
    expect(Object.keys(twins)).toContain(path)
    const at = applicationAt('http://sandbox.test', path as TwinName, { clientId: 'id', clientSecret: 'secret' })
    expect(Object.keys(at).sort()).toEqual(['clientId', 'clientSecret', ...Object.keys(addresses)].sort())
    for (const address of addressesOf(at)) expect(address).toMatch(new RegExp(`^http://sandbox\\.test/${path}(?:/|$)`))
  })

  test('is opened for an application, and only then', () => {
    expect(openNetworks(adapters, readConfig(application).applications, nowhere).get(platform)?.platform).toBe(platform)
    expect(openNetworks(adapters, {}, nowhere).size).toBe(0)
    expect(whyAbsent(platform)).toMatch(/application/)
  })
})

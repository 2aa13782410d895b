import { describe, expect, test } from 'vitest'
import { newId } from '../../../platform/ids.ts'
import {
  type GivenScope,
  hardLimitOptions,
  mayGovern,
  mostMicros,
  readMicros,
  readNote,
  readScope,
  requireGovernor,
  requireLimit,
  requirePlatformChanger,
  requirePlatformReader,
} from '../../../subgraphs/providers/spend/rules.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { person } from '../../kit/viewers.ts'
import { refusalOf, verdictOf } from '../refusal.ts'

const [organizationId, userId] = [newId(), newId()]
const as = (...roles: Viewer['roles']) => person(userId, organizationId, roles)
const [owner, admin, superAdmin, platformAdmin] = [as('owner'), as('admin'), as('platform_super_admin'), as('platform_admin')]
/** Whatever roles it carries: only a person is asked for theirs. */
const others = [
  { ...owner, kind: 'apiKey' },
  { ...owner, kind: 'service', appId: 'app_agents' },
  { ...owner, clientId: 'an app' },
  { ...owner, userId: null },
  { ...superAdmin, kind: 'service', appId: 'app_agents' },
  anonymous,
] as readonly Viewer[]
const refused = (code: string, field?: string) => ({ code, extensions: { ...(field && { field }) } })

describe('a hard limit', () => {
  test('is for owners of the organization and super admins of the platform, as persons', () => {
    expect([owner, admin, platformAdmin, superAdmin].map(viewer => mayGovern(viewer, 'ORGANIZATION'))).toEqual([true, false, false, true])
    expect([owner, admin, platformAdmin, superAdmin].map(viewer => mayGovern(viewer, 'PLATFORM'))).toEqual([false, false, false, true])
    for (const viewer of others) {
      expect([mayGovern(viewer, 'ORGANIZATION'), mayGovern(viewer, 'PLATFORM')]).toEqual([false, false])
      expect(refusalOf(() => requireGovernor(viewer))).toMatchObject(refused('FORBIDDEN'))
    }
  })

  test('may be set for all scopes, of the platform by its super admins alone', () => {
    expect(hardLimitOptions(owner).map(({ scopeType, levels }) => `${scopeType} ${levels}`)).toEqual([
      ...['ORGANIZATION ORGANIZATION', 'APP ORGANIZATION', 'USER ORGANIZATION', 'PROVIDER_FAMILY ORGANIZATION', 'MODEL ORGANIZATION'],
    ])
    expect(hardLimitOptions(superAdmin).map(({ scopeType, levels }) => `${scopeType} ${levels}`)).toEqual([
      ...['PLATFORM PLATFORM', 'ORGANIZATION ORGANIZATION,PLATFORM', 'APP ORGANIZATION,PLATFORM', 'USER ORGANIZATION,PLATFORM'],
      ...['PROVIDER_FAMILY ORGANIZATION,PLATFORM', 'MODEL ORGANIZATION,PLATFORM', 'PLATFORM_CREDENTIALS PLATFORM'],
    ])
    expect(hardLimitOptions(owner)[0]).toMatchObject({ periods: ['DAY', 'MONTH', 'TOTAL'], minMicros: 0n, maxMicros: mostMicros })
    expect(refusalOf(() => hardLimitOptions(admin))).toMatchObject(refused('FORBIDDEN'))
  })
})

test('limits of the platform are read by its admins and changed by its super admins, as persons', () => {
  for (const viewer of [platformAdmin, superAdmin]) expect(verdictOf(() => requirePlatformReader(viewer))).toBe('allowed')
  expect(verdictOf(() => requirePlatformChanger(superAdmin))).toBe('allowed')
  expect(refusalOf(() => requirePlatformChanger(platformAdmin))).toMatchObject(refused('FORBIDDEN'))
  for (const viewer of [owner, admin, ...others])
    expect([verdictOf(() => requirePlatformReader(viewer)), verdictOf(() => requirePlatformChanger(viewer))]).toEqual(['FORBIDDEN', 'FORBIDDEN'])
})

describe('a scope', () => {
  const member = newId()
  const known = { app: async (appId: string) => appId === 'app_agents', member: async (id: string) => id === member }
  const read = (scopeType: GivenScope['scopeType'], scopeValue: string, level: GivenScope['level'] = 'ORGANIZATION') =>
    readScope({ level, scopeType, scopeValue }, organizationId, known)

  test.for([
    ['PLATFORM', 'platform', 'PLATFORM'],
    ['APP', 'app_agents', 'ORGANIZATION'],
    ['PROVIDER_FAMILY', 'video', 'ORGANIZATION'],
    ['MODEL', 'openai/gpt-5-mini', 'ORGANIZATION'],
    ['MODEL', `a/${'x'.repeat(198)}`, 'ORGANIZATION'],
    ['ORGANIZATION', organizationId, 'ORGANIZATION'],
    ['USER', member, 'ORGANIZATION'],
    ['ORGANIZATION', newId(), 'PLATFORM'],
    ['USER', newId(), 'PLATFORM'],
  ] as const)('%s %s is one at level %s', async ([scopeType, value, level]) => {
    expect(await read(scopeType, value.toUpperCase() === value ? value : ` ${value} `, level)).toBe(value)
  })

  test('of an organization is an id in any case', async () => expect(await read('ORGANIZATION', organizationId.toUpperCase())).toBe(organizationId))

  test.for([
    ['PLATFORM', 'platform', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeType'],
    ['PLATFORM', 'all', 'PLATFORM', 'BAD_USER_INPUT', 'scopeValue'],
    ['ORGANIZATION', 'mine', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['ORGANIZATION', newId(), 'ORGANIZATION', 'NOT_FOUND', 'scopeValue'],
    ['USER', newId(), 'ORGANIZATION', 'NOT_FOUND', 'scopeValue'],
    ['USER', 'me', 'PLATFORM', 'BAD_USER_INPUT', 'scopeValue'],
    ['APP', 'app_unknown', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['PROVIDER_FAMILY', 'AI', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['PROVIDER_FAMILY', 'network', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['MODEL', 'gpt-5-mini', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['MODEL', 'a/b c', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['MODEL', `a/${'x'.repeat(199)}`, 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
    ['MODEL', 'a/\ud800', 'ORGANIZATION', 'BAD_USER_INPUT', 'scopeValue'],
  ] as const)('%s %s at level %s is %s', async ([scopeType, value, level, code, field]) => {
    await expect(read(scopeType, value, level)).rejects.toMatchObject({ extensions: { code, field } })
  })
})

describe('settings of a limit', () => {
  test('accept an amount from zero to a billion dollars; omitted ones stay', () => {
    expect([undefined, null, 0, '5', mostMicros].map(given => readMicros(given, 'x'))).toEqual([undefined, null, 0n, 5n, mostMicros])
    for (const given of [-1, -1n, mostMicros + 1n])
      expect(refusalOf(() => readMicros(given, 'softLimitMicros'))).toMatchObject(refused('BAD_USER_INPUT', 'softLimitMicros'))
  })

  test('need a soft or a hard limit', () => {
    expect(refusalOf(() => requireLimit({ softLimitMicros: null, hardLimitMicros: null }))).toMatchObject(refused('BAD_USER_INPUT', 'softLimitMicros'))
    expect(verdictOf(() => requireLimit({ softLimitMicros: 0n, hardLimitMicros: null }))).toBe('allowed')
    expect(verdictOf(() => requireLimit({ softLimitMicros: null, hardLimitMicros: 0n }))).toBe('allowed')
  })

  test('accept a note of 500 user-perceived characters; an empty one is none', () => {
    expect([undefined, null, ' ', ' a ', '😀'.repeat(500)].map(readNote)).toEqual([undefined, null, null, 'a', '😀'.repeat(500)])
    for (const given of ['a'.repeat(501), 'a\0b', '\ud800']) expect(refusalOf(() => readNote(given))).toMatchObject(refused('BAD_USER_INPUT', 'note'))
  })
})

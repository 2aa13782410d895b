import { describe, expect, it } from 'vitest'
import { codeOf } from '../../../platform/errors.ts'
import {
  readRoles,
  requireKeepers,
  requireMayChangeRoles,
  requireMayRemove,
  requireVersion,
  rolesToGraph,
} from '../../../subgraphs/identity/membership/rules.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'

const viewer = (...roles: string[]): Viewer => ({ ...anonymous, kind: 'user', userId: 'me', organizationId: 'org', roles, context: 'organization' })

const codeFrom = (run: () => unknown): string => {
  try {
    run()
    return 'allowed'
  } catch (error) {
    return codeOf(error)
  }
}

describe('changing roles', () => {
  const acme = { slug: 'acme' }
  const platform = { slug: 'admin' }

  it.each([
    // who, where, before, after, verdict
    ['owner', acme, [], ['owner'], 'allowed'],
    ['owner', acme, ['owner'], ['member'], 'allowed'],
    ['owner', acme, ['member'], ['platform_admin'], 'FORBIDDEN'],
    ['admin', acme, [], ['admin'], 'allowed'],
    ['admin', acme, ['member'], ['viewer'], 'allowed'],
    ['admin', acme, ['member'], ['owner'], 'FORBIDDEN'],
    ['admin', acme, ['owner', 'member'], ['owner'], 'FORBIDDEN'],
    ['admin', acme, ['owner'], [], 'FORBIDDEN'],
    ['member', acme, [], ['viewer'], 'FORBIDDEN'],
    ['viewer', acme, ['member'], ['viewer'], 'FORBIDDEN'],
    ['platform_super_admin', platform, ['member'], ['platform_admin'], 'allowed'],
    ['platform_super_admin', platform, ['platform_super_admin'], ['viewer'], 'allowed'],
    ['platform_admin', platform, [], ['viewer'], 'FORBIDDEN'],
    ['owner', platform, [], ['platform_admin'], 'FORBIDDEN'],
    ['owner', platform, [], ['owner'], 'allowed'],
  ] as const)('a %s of %o may take a member from %o to %o: %s', (role, organization, before, after, verdict) => {
    expect(codeFrom(() => requireMayChangeRoles(viewer(role), organization, before, after))).toBe(verdict)
  })

  it('lets anybody leave, and only those remove others who may take all their roles', () => {
    const member = { id: 'm', organizationId: 'org', roles: ['member'] }
    expect(codeFrom(() => requireMayRemove(viewer('viewer'), acme, { ...member, userId: 'me' }))).toBe('allowed')
    expect(codeFrom(() => requireMayRemove(viewer('viewer'), acme, { ...member, userId: 'you' }))).toBe('FORBIDDEN')
    expect(codeFrom(() => requireMayRemove(viewer('admin'), acme, { ...member, userId: 'you' }))).toBe('allowed')
    expect(codeFrom(() => requireMayRemove(viewer('admin'), acme, { ...member, roles: ['owner'], userId: 'you' }))).toBe('FORBIDDEN')
  })

  it('keeps an owner where there was one, and asks for none where there was none', () => {
    expect(codeFrom(() => requireKeepers([], ['owner'], ['admin']))).toBe('CONFLICT')
    expect(codeFrom(() => requireKeepers([{ roles: ['admin'] }], ['owner'], []))).toBe('CONFLICT')
    expect(codeFrom(() => requireKeepers([{ roles: ['owner'] }], ['owner'], []))).toBe('allowed')
    expect(codeFrom(() => requireKeepers([], ['owner', 'admin'], ['owner']))).toBe('allowed')
    expect(codeFrom(() => requireKeepers([], ['member'], []))).toBe('allowed')
    expect(codeFrom(() => requireKeepers([{ roles: ['owner'] }], ['platform_super_admin'], []))).toBe('CONFLICT')
  })

  it('reads roles in order, each once, and refuses none and strangers', () => {
    expect(readRoles(['VIEWER', 'OWNER', 'VIEWER'])).toEqual(['owner', 'viewer'])
    expect(codeFrom(() => readRoles([]))).toBe('BAD_USER_INPUT')
    expect(codeFrom(() => readRoles(['KING']))).toBe('BAD_USER_INPUT')
    expect(rolesToGraph(['viewer', 'platform_admin', 'king'])).toEqual(['PLATFORM_ADMIN', 'VIEWER'])
  })

  it('compares versions only when the caller names one', () => {
    expect(codeFrom(() => requireVersion({ version: 2 }, null))).toBe('allowed')
    expect(codeFrom(() => requireVersion({ version: 2 }, 2))).toBe('allowed')
    expect(codeFrom(() => requireVersion({ version: 2 }, 1))).toBe('CONFLICT')
  })
})

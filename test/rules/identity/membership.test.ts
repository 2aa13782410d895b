import { describe, expect, it } from 'vitest'
import {
  canManageOrganization,
  readRoles,
  requireKeepers,
  requireMayChangeRoles,
  requireMayRemove,
  requireMemberQuota,
  rolesToGraph,
} from '../../../subgraphs/identity/membership/rules.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { refusalOf, verdictOf } from '../refusal.ts'

const viewer = (...roles: string[]): Viewer => ({ ...anonymous, kind: 'user', userId: 'me', organizationId: 'org', roles, context: 'organization' })

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
    ['owner', platform, ['platform_admin'], [], 'FORBIDDEN'],
    ['owner', platform, ['platform_admin', 'member'], ['platform_admin'], 'allowed'],
    ['admin', platform, ['platform_admin', 'member'], ['platform_admin'], 'FORBIDDEN'],
    ['platform_super_admin', platform, [], ['owner'], 'allowed'],
    ['platform_super_admin', platform, ['owner', 'member'], ['owner'], 'allowed'],
    ['platform_super_admin', acme, [], ['platform_admin'], 'FORBIDDEN'],
  ] as const)('a %s of %o may take a member from %o to %o: %s', (role, organization, before, after, verdict) => {
    expect(verdictOf(() => requireMayChangeRoles(viewer(role), organization, before, after))).toBe(verdict)
  })

  it.each([
    ['give what only the platform’s organization has', 'owner', acme, [], ['platform_admin']],
    ['take a platform role without being a super admin', 'owner', platform, ['platform_admin'], []],
    ['make an owner without being one', 'admin', acme, [], ['owner']],
  ] as const)('blames the roles that were asked for: who would %s', (_what, role, organization, before, after) => {
    const { extensions } = refusalOf(() => requireMayChangeRoles(viewer(role), organization, before, after))
    expect(extensions).toEqual({ code: 'FORBIDDEN', field: 'roles' })
  })

  it('names no field where the viewer may change no member, or not this one', () => {
    expect(refusalOf(() => requireMayChangeRoles(viewer('member'), acme, [], ['viewer'])).extensions).toEqual({ code: 'FORBIDDEN' })
    expect(refusalOf(() => requireMayChangeRoles(viewer('admin'), acme, ['owner'], ['owner', 'viewer'])).extensions).toEqual({ code: 'FORBIDDEN' })
  })

  it('lets everyone leave, and only those remove others who may grant all their roles', () => {
    const member = { id: 'm', organizationId: 'org', roles: ['member'] }
    expect(verdictOf(() => requireMayRemove(viewer('viewer'), acme, { ...member, userId: 'me' }))).toBe('allowed')
    expect(verdictOf(() => requireMayRemove(viewer('viewer'), acme, { ...member, userId: 'you' }))).toBe('FORBIDDEN')
    expect(verdictOf(() => requireMayRemove(viewer('admin'), acme, { ...member, userId: 'you' }))).toBe('allowed')
    expect(verdictOf(() => requireMayRemove(viewer('admin'), acme, { ...member, roles: ['owner'], userId: 'you' }))).toBe('FORBIDDEN')
  })

  it('requires a manager of the organization', () => {
    const roles = ['owner', 'admin', 'platform_super_admin', 'platform_admin', 'member', 'viewer']
    expect(roles.filter(role => canManageOrganization(viewer(role)))).toEqual(['owner', 'admin', 'platform_super_admin'])
    expect([canManageOrganization(viewer()), canManageOrganization(viewer('viewer', 'admin'))]).toEqual([false, true])
  })

  it('keeps an owner where there was one, and requires none where there was none', () => {
    expect(refusalOf(() => requireKeepers([], ['owner'], ['admin'])).extensions).toEqual({ code: 'CONFLICT', role: 'owner' })
    expect(verdictOf(() => requireKeepers([{ roles: ['admin'] }], ['owner'], []))).toBe('CONFLICT')
    expect(verdictOf(() => requireKeepers([{ roles: ['owner'] }], ['owner'], []))).toBe('allowed')
    expect(verdictOf(() => requireKeepers([], ['owner', 'admin'], ['owner']))).toBe('allowed')
    expect(verdictOf(() => requireKeepers([], ['member'], []))).toBe('allowed')
    const superAdmin = refusalOf(() => requireKeepers([{ roles: ['owner'] }], ['platform_super_admin'], []))
    expect(superAdmin.extensions).toEqual({ code: 'CONFLICT', role: 'platform_super_admin' })
    expect(verdictOf(() => requireKeepers([{ roles: ['member'] }, { roles: ['viewer', 'owner'] }], ['owner'], []))).toBe('allowed')
  })

  it('reads roles in order, without duplicates, and rejects none and unknown ones', () => {
    expect(readRoles(['VIEWER', 'OWNER', 'VIEWER'])).toEqual(['owner', 'viewer'])
    expect(readRoles(['PLATFORM_ADMIN', 'member', 'PLATFORM_SUPER_ADMIN', 'ADMIN'])).toEqual(['platform_super_admin', 'platform_admin', 'admin', 'member'])
    for (const given of [[], ['KING'], ['OWNER', 'KING'], ['']])
      expect(refusalOf(() => readRoles(given)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'roles' })
    expect(rolesToGraph(['viewer', 'platform_admin', 'king'])).toEqual(['PLATFORM_ADMIN', 'VIEWER'])
  })

  it('adds nobody above the maximum of an organization', () => {
    for (const members of [0, 2]) expect(verdictOf(() => requireMemberQuota(members, 3))).toBe('allowed')
    for (const members of [3, 4]) expect(refusalOf(() => requireMemberQuota(members, 3)).extensions).toEqual({ code: 'CONFLICT', reason: 'QUOTA' })
  })
})

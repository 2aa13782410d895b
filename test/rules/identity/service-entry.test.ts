import { describe, expect, it } from 'vitest'
import { type Addresses, conflictOf, entryOf, mistakeIn } from '../../../subgraphs/identity/service-entry/rules.ts'
import { scopes, slugs } from '../../../subgraphs/scopes.ts'
import type { Registration } from '../../../subgraphs/subgraph.ts'

const registration: Registration = {
  slug: 'payments',
  appId: 'app_payments',
  title: 'Payments',
  contexts: ['organization'],
  icon: '/icons/payments.svg',
  asks: [],
  widget: null,
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}

describe('registering a service', () => {
  it.each([
    ['a path for its icon, and no address', {}, {}],
    ['an icon elsewhere over TLS', { icon: 'https://assets.test/p.svg' }, {}],
    ['an icon elsewhere without TLS', { icon: 'http://assets.test/p.svg' }, {}],
    ['a title of one character', { title: 'P' }, {}],
    ['a title of 80 characters', { title: 'x'.repeat(80) }, {}],
    ['scopes of others that it asks for', { asks: ['publishing:posts.read', 'agents:agents.read'] }, {}],
    ['addresses', {}, { rest: 'https://payments.test', graph: 'https://payments.test/graphql' }],
  ] as [string, Partial<Registration>, Addresses][])('I-07 accepts %s', (_what, change, addresses) => {
    expect(mistakeIn({ ...registration, ...change }, addresses)).toBeNull()
  })

  it.each([
    [{ slug: 'weather' }, 'catalogue'],
    [{ slug: 'toString' }, 'catalogue'],
    [{ appId: 'payments' }, 'app_payments'],
    [{ appId: 'app_agents' }, 'app_payments'],
    [{ title: '' }, 'title'],
    [{ title: ' ' }, 'title'],
    [{ title: 'x'.repeat(81) }, 'title'],
    [{ contexts: [] }, 'context'],
    [{ icon: 'javascript:alert(1)' }, 'icon'],
    [{ icon: 'xhttps://assets.test/p.svg' }, 'icon'],
    [{ icon: '//elsewhere.test/p.svg' }, 'icon'],
    [{ icon: '/icons/my icon.svg' }, 'icon'],
    [{ icon: 'icons/payments.svg' }, 'icon'],
    [{ icon: '' }, 'icon'],
    [{ asks: ['posts.read'] }, 'posts.read'],
    [{ asks: ['publishing:posts.read', 'publishing:*'] }, 'publishing:*'],
  ])('I-07 refuses %o', (change, word) => {
    expect(mistakeIn({ ...registration, ...(change as object) }, {})).toContain(word)
  })

  it('I-07 rejects an address that is not absolute, and says which', () => {
    expect(mistakeIn(registration, { graph: 'https://payments.test', rest: '/payments' })).toContain('rest')
  })

  it('I-07 registers the service’s own description, owned by the platform', () => {
    const said = { ...registration, contexts: ['personal', 'organization'], asks: ['publishing:posts.read'], lifecycle: 'deprecated' } as const
    const addresses = { rest: 'https://payments.test' }
    const { scopes: entered, ...entry } = entryOf({ ...said, widget: { audience: 'user' } }, addresses, 'staging')
    const { widget, ...rest } = said
    expect(entry).toEqual({ ...rest, environment: 'staging', widgetAudience: 'user', addresses, owner: 'platform' })
    expect(entered).toContainEqual({ name: 'dashboard.read', meaning: scopes.payments['dashboard.read'] })
    expect(entryOf(registration, {}, 'staging').widgetAudience).toBeNull()
  })

  it('I-02 enters the 62 scopes of the catalogue', () => {
    const counts = slugs.map(slug => entryOf({ ...registration, slug }, {}, 'development').scopes.length)
    expect(counts.reduce((sum, count) => sum + count)).toBe(62)
  })

  it('I-07 detects a conflict of slug or app id', () => {
    const mine = entryOf(registration, {}, 'development')
    expect(conflictOf(mine, null, null)).toBeNull()
    expect(conflictOf(mine, mine, mine)).toBeNull()
    expect(conflictOf(mine, { ...mine, owner: 'org-1' }, null)).toContain('org-1')
    expect(conflictOf(mine, { ...mine, appId: 'app_pay' }, null)).toContain('app_pay')
    expect(conflictOf(mine, null, { ...mine, slug: 'pay' })).toContain('pay')
  })
})

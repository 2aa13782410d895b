import { describe, expect, it } from 'vitest'
import { conflictOf, entryOf, mistakeIn } from '../../../subgraphs/identity/service-entry/rules.ts'
import { slugs } from '../../../subgraphs/scopes.ts'
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
}

describe('registering a service', () => {
  it('I-07 accepts what is complete', () => {
    expect(mistakeIn(registration, {})).toBeNull()
    expect(mistakeIn({ ...registration, icon: 'https://assets.test/p.svg' }, { rest: 'https://payments.test' })).toBeNull()
  })

  it.each([
    [{ slug: 'weather' }, 'catalogue'],
    [{ appId: 'payments' }, 'app_payments'],
    [{ title: ' ' }, 'title'],
    [{ contexts: [] }, 'context'],
    [{ icon: 'javascript:alert(1)' }, 'icon'],
    [{ icon: '//elsewhere.test/p.svg' }, 'icon'],
    [{ asks: ['posts.read'] }, 'posts.read'],
  ])('I-07 refuses %o', (change, word) => {
    expect(mistakeIn({ ...registration, ...(change as object) }, {})).toContain(word)
  })

  it('I-07 refuses an address that is not absolute', () => {
    expect(mistakeIn(registration, { rest: '/payments' })).toContain('rest')
  })

  it('I-02 enters the 62 scopes of the catalogue', () => {
    const counts = slugs.map(slug => entryOf({ ...registration, slug }, {}, 'development').scopes.length)
    expect(counts.reduce((sum, count) => sum + count)).toBe(62)
  })

  it('I-07 sees a conflict in a slug or an app id that somebody else holds', () => {
    const mine = entryOf(registration, {}, 'development')
    expect(conflictOf(mine, null, null)).toBeNull()
    expect(conflictOf(mine, mine, mine)).toBeNull()
    expect(conflictOf(mine, { ...mine, owner: 'org-1' }, null)).toContain('org-1')
    expect(conflictOf(mine, { ...mine, appId: 'app_pay' }, null)).toContain('app_pay')
    expect(conflictOf(mine, null, { ...mine, slug: 'pay' })).toContain('pay')
  })
})

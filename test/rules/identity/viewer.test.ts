import { describe, expect, it } from 'vitest'
import { requireOrganization } from '../../../subgraphs/identity/membership/rules.ts'
import { kindToGraph } from '../../../subgraphs/identity/user/viewer/rules.ts'
import { requirePerson } from '../../../subgraphs/viewer.ts'
import { anonymous, key, person, personally } from '../../kit/viewers.ts'
import { refusalOf } from '../refusal.ts'

const ada = person('ada', 'acme', ['owner'])
const program = key('acme', [])
const service = { ...anonymous, kind: 'service', appId: 'app_launcher', organizationId: 'acme' } as const

describe('the viewer', () => {
  it('is described to clients as one of four kinds', () => {
    expect([ada, program, service, anonymous].map(({ kind }) => kindToGraph[kind])).toEqual(['USER', 'API_KEY', 'SERVICE', 'ANONYMOUS'])
  })

  it('is a person when it has a person’s session', () => {
    expect(requirePerson(ada)).toBe('ada')
    expect(requirePerson(personally(ada))).toBe('ada')
  })

  it.each([
    ['a key', program],
    ['a service', service],
    ['a service that acts on behalf of a person', { ...service, userId: 'ada', onBehalfOf: 'ada' }],
    ['nobody', anonymous],
    ['a user without an id', { ...ada, userId: null }],
  ])('is no person: %s', (_who, viewer) => expect(refusalOf(() => requirePerson(viewer)).code).toBe('FORBIDDEN'))

  it('acts in the organization that is active, whether a person, a key or a service', () => {
    expect([ada, program, service].map(requireOrganization)).toEqual(['acme', 'acme', 'acme'])
  })

  it.each([
    ['a person in personal context', personally(ada)],
    ['nobody', anonymous],
  ])('acts in none: %s', (_who, viewer) => expect(refusalOf(() => requireOrganization(viewer)).code).toBe('FORBIDDEN'))
})

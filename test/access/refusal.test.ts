import { describe, expect, test } from 'vitest'
import { refusalOf, refusedCode, wordsFor } from '../../router/access/refusal.ts'
import type { Requirement } from '../../router/access/rules.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { anonymous, keyed, signedIn } from './supergraph.ts'

let ids = 0
type Any = readonly (readonly string[])[]
const authenticated: Requirement = { id: ids++, kind: 'authenticated' }
const scopes = (...any: Any): Requirement => ({ id: ids++, kind: 'scopes', any })
const policies = (...any: Any): Requirement => ({ id: ids++, kind: 'policies', any })

/** What is said of Type.field under a rule, and for a union under those of its members. */
const words = (rule: readonly Requirement[], viewer: Viewer, members: readonly (readonly Requirement[])[] = []) =>
  wordsFor({ coordinate: 'Type.field', rule, members }, viewer, 'query')
const scopesOf = (rule: readonly Requirement[]) => words(rule, keyed([])).extensions.requiredScopes

describe('an access error', () => {
  test('has the path of its field, and names what is rejected', () => {
    const said = words([authenticated], anonymous)
    expect(refusalOf(['it', 'field'], said)).toEqual({ message: said.message, path: ['it', 'field'], extensions: said.extensions })
    expect(said.message).toContain('Type.field')
  })

  test('asks anonymous callers to sign in, and names the needed scopes', () => {
    const bare = words([authenticated], anonymous)
    expect(bare.extensions).toEqual({ code: refusedCode, signIn: true })
    expect(bare.message).not.toMatch(/scope|policy/)
    const scoped = words([authenticated, scopes(['a:1'])], anonymous)
    expect(scoped.extensions).toEqual({ code: refusedCode, signIn: true, requiredScopes: [['a:1']] })
    expect(scoped.message).toContain('a:1')
    expect(scoped.message.startsWith(bare.message.slice(0, -1))).toBe(true)
  })

  test('has different messages for reading, calling and subscribing', () => {
    const verbs = (['query', 'mutation', 'subscription'] as const).map(operation => {
      const { message } = wordsFor({ coordinate: 'Type.field', rule: [authenticated], members: [] }, anonymous, operation)
      return /to (\w+).* Type\.field/.exec(message)?.[1]
    })
    expect(verbs).toEqual(['see', 'call', 'subscribe'])
  })

  test('for a rule that nobody can meet says so, and names no remedy', () => {
    const { message, extensions } = words([scopes()], signedIn())
    expect(extensions).toEqual({ code: refusedCode })
    expect(message).toMatch(/: \w+/)
    expect(message).not.toMatch(/scope|policy/)
  })

  test('names a policy in its sentence only when the caller does not meet it; the details name it always', () => {
    const rule = [scopes(['a:1', 'a:2']), policies(['person'])]
    const [key, person] = [words(rule, keyed([])), words(rule, signedIn())]
    const extensions = { code: refusedCode, requiredScopes: [['a:1', 'a:2']], requiredPolicies: [['person']] }
    expect([key.extensions, person.extensions]).toEqual([extensions, extensions])
    expect(key.message).toMatch(/a:1\b.+\ba:2\b.+\band\b.+\bperson\b/)
    expect(person.message).toContain('a:1')
    expect(person.message).not.toContain('person')
  })

  test('names all policies together when one of them is not met', () => {
    const { message, extensions } = words([policies(['person']), policies(['platform_admin'])], signedIn())
    expect(extensions).toEqual({ code: refusedCode, requiredPolicies: [['person', 'platform_admin']] })
    expect(message).toMatch(/\bperson\b.+\bplatform_admin\b/)
  })

  test('for a platform role names its organization to people whom that helps', () => {
    const where = /organization admin.+switchOrganization/
    const rule = [policies(['platform_admin', 'platform_super_admin'])]
    expect(words(rule, signedIn([], ['owner'])).message).toMatch(where)
    expect(words(rule, signedIn([], ['platform_admin'])).message).toMatch(where)
    for (const viewer of [keyed([]), anonymous]) expect(words(rule, viewer).message).not.toMatch(where)
    expect(words([policies(['organization_admin'])], signedIn()).message).not.toMatch(where)
  })
})

describe('the sufficient scopes in an error', () => {
  test('for several rules are one list of alternatives, sorted and without duplicates', () => {
    expect(scopesOf([scopes(['z:1'], ['b:1']), scopes(['c:1'], ['b:1'])])).toEqual([['c:1', 'z:1'], ['b:1', 'z:1'], ['b:1', 'c:1'], ['b:1']])
    expect(scopesOf([scopes(['a:1', 'a:2'], ['a:2', 'a:1'])])).toEqual([['a:1', 'a:2']])
  })

  test('are distinct although they would read alike when concatenated', () => {
    expect(scopesOf([scopes(['ab', 'c'], ['a', 'bc'])])).toEqual([
      ['ab', 'c'],
      ['a', 'bc'],
    ])
  })

  test('omit alternatives that contain another one', () => {
    expect(words([scopes(['a:1', 'a:2'], ['a:2'])], keyed([])).message).toBe('You may not see Type.field: it takes the scope a:2.')
  })

  test('omit rules without scopes', () => {
    expect(scopesOf([scopes([], ['a:1'])])).toEqual([['a:1']])
  })

  test('are twenty at most, of one rule, of several and of the members of a union', () => {
    const some = (letter: string, count: number): Any => Array.from({ length: count }, (_, n) => [`${letter}:${n}`])
    expect(scopesOf([scopes(...some('a', 20))])).toHaveLength(20)
    expect(scopesOf([scopes(...some('a', 21))])).toHaveLength(20)
    expect(scopesOf([scopes(...some('a', 5)), scopes(...some('b', 5))])).toHaveLength(20)
    const members = [[scopes(...some('a', 15))], [scopes(...some('b', 15))]]
    expect(words([], keyed([]), members).extensions.requiredScopes).toHaveLength(20)
  })
})

describe('for a union with alternatives', () => {
  test('the scopes of any member suffice, together with the field’s own', () => {
    const own = scopes(['own:1'])
    expect(words([own], keyed([]), [[scopes(['b:1'])], [own, scopes(['c:1'])]]).extensions).toEqual({
      code: refusedCode,
      requiredScopes: [
        ['b:1', 'own:1'],
        ['c:1', 'own:1'],
      ],
    })
  })

  test('a member without scopes is named, although another comes first', () => {
    const [person, service] = [policies(['person']), policies(['service'])]
    const { message, extensions } = words([], anonymous, [[scopes(['a:1']), service], [person]])
    expect(extensions).toEqual({ code: refusedCode, signIn: true, requiredPolicies: [['person']] })
    expect(message).not.toMatch(/a:1|service/)
  })

  test('members with other policies are separate alternatives', () => {
    const [person, service] = [policies(['person']), policies(['service'])]
    const members = [
      [person, scopes(['a:1'])],
      [scopes(['b:1']), person],
      [service, scopes(['c:1'])],
    ]
    expect(words([], keyed([]), members).extensions).toEqual({
      code: refusedCode,
      requiredScopes: [['a:1'], ['b:1']],
      requiredPolicies: [['person']],
    })
  })
})

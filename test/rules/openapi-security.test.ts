import { expect, test } from 'vitest'
import type { Requirement } from '../../router/access/rules.ts'
import { securityOf, securitySchemes } from '../../router/openapi/security.ts'

const scopes = (...any: string[][]): Requirement => ({ id: 1, kind: 'scopes', any })
const policies = (...any: string[][]): Requirement => ({ id: 2, kind: 'policies', any })
const everyWay = (names: readonly string[]) => [{ bearer: names }, { cookie: names }, { apiKey: names }, { serviceToken: names, appId: [] }]
const ofPeople = (names: readonly string[]) => [{ bearer: names }, { cookie: names }]

test.each<readonly [string, readonly Requirement[], readonly object[]]>([
  ['nothing is asked: anybody, with credentials or without', [], [{}, ...everyWay([])]],
  ['some credential is', [{ id: 0, kind: 'authenticated' }], everyWay([])],
  ['a scope is', [scopes(['a:read'])], everyWay(['a:read'])],
  ['both of two scopes are', [scopes(['b:read', 'a:read'])], everyWay(['a:read', 'b:read'])],
  ['one of two scopes is', [scopes(['a:read'], ['a:write'])], [...everyWay(['a:read']), ...everyWay(['a:write'])]],
  ['two things are asked', [scopes(['a:read']), scopes(['b:read'])], everyWay(['a:read', 'b:read'])],
  ['one way takes more than another, nobody hears of it', [scopes(['a:read'], ['a:read', 'b:read'])], everyWay(['a:read'])],
  ['the same is asked twice, it is told once', [scopes(['a:read']), scopes(['a:read'], ['a:write'])], everyWay(['a:read'])],
  ['a person is asked for, no program comes in', [policies(['person'])], ofPeople(['policy:person'])],
  ['a person with a scope', [scopes(['a:read']), policies(['person'])], ofPeople(['a:read', 'policy:person'])],
  ['a service is asked for, nobody else comes in', [policies(['service'])], [{ serviceToken: ['policy:service'], appId: [] }]],
])('when %s', (_, requirements, ways) => {
  expect(securityOf(requirements)).toEqual(ways)
})

test('every way is by schemes that the document describes', () => {
  const named = securityOf([scopes(['a:read'])]).flatMap(way => Object.keys(way))
  expect([...new Set(named)].sort()).toEqual(Object.keys(securitySchemes).sort())
})

import type { GraphQLFormattedError, OperationTypeNode } from 'graphql'
import { isErrorCode, statusOf } from '../../platform/errors.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Barrier } from './findings.ts'
import { lacksPlatformRole } from './policies.ts'
import { meets, type Requirement } from './rules.ts'

/** Code of a rejected field, in the answer's errors and for REST. */
export const refusedCode = 'UNAUTHORIZED_FIELD_OR_TYPE'

/** Codes besides the platform's own table that GraphQL clients know, and whose messages clients may see. */
const graphqlCodes = new Set([
  refusedCode,
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_QUERY_REQUIRED',
  'TOKEN_EXPIRED',
  'SUPERGRAPH_CHANGED',
])

/** Every code that a client may receive. */
export const publicCodes: readonly string[] = [...Object.keys(statusOf), ...graphqlCodes]

/** Returns the code that a client receives for any thrown error. */
export function publicCodeOf(error: unknown): string {
  const code = (error as { extensions?: { code?: unknown } } | null | undefined)?.extensions?.code
  return typeof code === 'string' && (isErrorCode(code) || graphqlCodes.has(code)) ? code : 'INTERNAL_SERVER_ERROR'
}

/** Maximum number of scope alternatives that an error names. */
const mostAlternatives = 20

/** Hint for people who have the role but are active in another organization, as after the first sign-in. */
const whereAdministrators = ' Who administers the platform does so in the organization admin: go there by switchOrganization.'

/** Message and extensions of the error for a rejected field or type, wherever it is selected. */
export type Words = Required<Pick<GraphQLFormattedError, 'message' | 'extensions'>>

/** Creates the error for one path. */
export const refusalOf = (path: readonly string[], { message, extensions }: Words): GraphQLFormattedError => ({ message, path, extensions })

/**
 * Describes how access would be granted: `extensions.requiredScopes` (meeting one inner list suffices, all of its
 * scopes are needed), `extensions.requiredPolicies` likewise, and `extensions.signIn` when the caller is anonymous.
 */
export function wordsFor({ coordinate, rule, members }: Barrier, viewer: Viewer, operation: `${OperationTypeNode}`): Words {
  const ways = waysIn(rule, members)
  const way = ways[0]!
  const signIn = viewer.kind === 'anonymous'
  const requiredScopes = distinct(ways.flatMap(each => alternatives(each, 'scopes'))).slice(0, mostAlternatives)
  const requiredPolicies = alternatives(way, 'policies')
  const needs = [
    ...(requiredScopes.length > 0 ? [`the scope ${inWords(requiredScopes)}`] : []),
    ...(requiredPolicies.length > 0 && !way.filter(each => each.kind === 'policies').every(each => meets(each, viewer))
      ? [`the policy ${inWords(requiredPolicies)}`]
      : []),
  ].join(' and ')
  const verb = operation === 'query' ? 'see' : operation === 'mutation' ? 'call' : 'subscribe to'
  const message = signIn
    ? `Sign in to ${verb} ${coordinate}${needs ? `: it takes ${needs}` : ''}.`
    : `You may not ${verb} ${coordinate}: ${needs ? `it takes ${needs}` : 'nobody may'}.${lacksPlatformRole(requiredPolicies.flat(), viewer) ? whereAdministrators : ''}`
  return {
    message,
    extensions: {
      code: refusedCode,
      ...(requiredScopes.length > 0 && { requiredScopes }),
      ...(requiredPolicies.length > 0 && { requiredPolicies }),
      ...(signIn && { signIn }),
    },
  }
}

/**
 * Returns the requirements to be met, once for each member through which a union could be read; members that differ in
 * scopes only are merged.
 */
function waysIn(rule: readonly Requirement[], members: Barrier['members']): readonly (readonly Requirement[])[] {
  if (members.length === 0) return [rule]
  const ways = members.map(member => [...new Set([...rule, ...member])])
  const withoutScopes = ways.find(way => way.every(each => each.kind !== 'scopes'))
  if (withoutScopes) return [withoutScopes]
  const others = (way: readonly Requirement[]) => String(way.filter(each => each.kind !== 'scopes').map(each => each.id))
  return ways.filter(way => others(way) === others(ways[0]!))
}

/** Combines several requirements of one kind into a single disjunction of conjunctions, each list sorted. */
function alternatives(rule: readonly Requirement[], kind: 'scopes' | 'policies'): readonly (readonly string[])[] {
  let result: readonly (readonly string[])[] = [[]]
  for (const requirement of rule) {
    if (requirement.kind !== kind) continue
    result = distinct(result.flatMap(left => requirement.any.map(right => [...new Set([...left, ...right])].sort()))).slice(0, mostAlternatives)
  }
  return result.filter(each => each.length > 0)
}

const distinct = (lists: readonly (readonly string[])[]): readonly (readonly string[])[] => [...new Map(lists.map(list => [list.join(' '), list])).values()]

/** Describes alternatives in words, without those that contain another one. */
const inWords = (any: readonly (readonly string[])[]): string =>
  any
    .filter(way => !any.some(other => other.length < way.length && other.every(name => way.includes(name))))
    .map(all => all.join(' with '))
    .join(' or ')

import type { GraphQLFormattedError, OperationTypeNode } from 'graphql'
import { isErrorCode, statusOf } from '../../platform/errors.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Barrier } from './findings.ts'
import { lacksPlatformRole } from './policies.ts'
import { meets, type Requirement } from './rules.ts'

/** The code of a refused field: what the answer's error list and the REST doors look for. */
export const refusedCode = 'UNAUTHORIZED_FIELD_OR_TYPE'

/** Codes beside the platform's own table that clients of GraphQL know, and that may leave the house with their message. */
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

/** Every code that a client may be told. */
export const toldCodes: readonly string[] = [...Object.keys(statusOf), ...graphqlCodes]

/** The code that a client is told of anything thrown. */
export function toldCode(error: unknown): string {
  const code = (error as { extensions?: { code?: unknown } } | null | undefined)?.extensions?.code
  return typeof code === 'string' && (isErrorCode(code) || graphqlCodes.has(code)) ? code : 'INTERNAL_SERVER_ERROR'
}

/** How many alternatives of scopes an error names. */
const mostAlternatives = 20

/** For people who have the role, and are active in another organization: that is where the first sign-in leads. */
const whereAdministrators = ' Who administers the platform does so in the organization admin: go there by switchOrganization.'

/** What is said of a field or type that is refused, wherever it stands. */
export type Words = Required<Pick<GraphQLFormattedError, 'message' | 'extensions'>>

/** The error for one place. */
export const refusalOf = (path: readonly string[], { message, extensions }: Words): GraphQLFormattedError => ({ message, path, extensions })

/**
 * Says what would do: `extensions.requiredScopes` (one inner list is enough, all of it is needed), `extensions.requiredPolicies`
 * likewise, and `extensions.signIn` when the caller is not known at all.
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

/** Everything that has to be met, once for each member by which a union could be entered: those that differ in scopes alone. */
function waysIn(rule: readonly Requirement[], members: Barrier['members']): readonly (readonly Requirement[])[] {
  if (members.length === 0) return [rule]
  const ways = members.map(member => [...new Set([...rule, ...member])])
  const withoutScopes = ways.find(way => way.every(each => each.kind !== 'scopes'))
  if (withoutScopes) return [withoutScopes]
  const others = (way: readonly Requirement[]) => String(way.filter(each => each.kind !== 'scopes').map(each => each.id))
  return ways.filter(way => others(way) === others(ways[0]!))
}

/** Several requirements of one kind as a single disjunction of conjunctions, each list sorted. */
function alternatives(rule: readonly Requirement[], kind: 'scopes' | 'policies'): readonly (readonly string[])[] {
  let result: readonly (readonly string[])[] = [[]]
  for (const requirement of rule) {
    if (requirement.kind !== kind) continue
    result = distinct(result.flatMap(left => requirement.any.map(right => [...new Set([...left, ...right])].sort()))).slice(0, mostAlternatives)
  }
  return result.filter(each => each.length > 0)
}

const distinct = (lists: readonly (readonly string[])[]): readonly (readonly string[])[] => [...new Map(lists.map(list => [list.join(' '), list])).values()]

/** A way that takes more than another one takes is none that anybody has to hear of. */
const inWords = (any: readonly (readonly string[])[]): string =>
  any
    .filter(way => !any.some(other => other.length < way.length && other.every(name => way.includes(name))))
    .map(all => all.join(' with '))
    .join(' or ')

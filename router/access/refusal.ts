import type { GraphQLFormattedError, OperationTypeNode } from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { meets, type Requirement } from './rules.ts'

/** The code of a refused field: what the answer's error list and the REST doors look for. */
export const refusedCode = 'UNAUTHORIZED_FIELD_OR_TYPE'

/** How many alternatives of scopes an error names. */
const mostAlternatives = 20

/**
 * Says for one refused place what would do: `extensions.requiredScopes` (one inner list is enough, all of it is needed),
 * `extensions.requiredPolicies` likewise, and `extensions.signIn` when the caller is not known at all.
 */
export function refusalOf(
  place: { readonly path: readonly string[]; readonly coordinate: string; readonly rule: readonly Requirement[] },
  viewer: Viewer,
  operation: `${OperationTypeNode}`,
): GraphQLFormattedError {
  const signIn = viewer.kind === 'anonymous'
  const requiredScopes = alternatives(place.rule, 'scopes')
  const requiredPolicies = alternatives(place.rule, 'policies')
  const needs = [
    ...(requiredScopes.length > 0 ? [`the scope ${inWords(requiredScopes)}`] : []),
    ...(requiredPolicies.length > 0 && !place.rule.filter(each => each.kind === 'policies').every(each => meets(each, viewer))
      ? [`the policy ${inWords(requiredPolicies)}`]
      : []),
  ].join(' and ')
  const verb = operation === 'query' ? 'see' : operation === 'mutation' ? 'call' : 'subscribe to'
  const message = signIn
    ? `Sign in to ${verb} ${place.coordinate}${needs ? `: it takes ${needs}` : ''}.`
    : `You may not ${verb} ${place.coordinate}: it takes ${needs || 'a signed-in caller'}.`
  return {
    message,
    path: place.path,
    extensions: {
      code: refusedCode,
      ...(requiredScopes.length > 0 && { requiredScopes }),
      ...(requiredPolicies.length > 0 && { requiredPolicies }),
      ...(signIn && { signIn }),
    },
  }
}

/** Several requirements of one kind as a single disjunction of conjunctions, each list sorted. */
function alternatives(rule: readonly Requirement[], kind: 'scopes' | 'policies'): readonly (readonly string[])[] {
  let result: readonly (readonly string[])[] = [[]]
  for (const requirement of rule) {
    if (requirement.kind !== kind) continue
    result = result.flatMap(left => requirement.any.map(right => [...new Set([...left, ...right])].sort())).slice(0, mostAlternatives)
  }
  return result.filter(each => each.length > 0)
}

const inWords = (any: readonly (readonly string[])[]): string => any.map(all => all.join(' with ')).join(' or ')

import type { FetchNode as ApolloFetch, PlanNode as ApolloNode, FetchDataRewrite, QueryPlanSelectionNode } from '@apollo/query-planner'
import type { FetchNode, FetchNodePathSegment, FlattenNodePathSegment, PlanNode, RequiresSelection, ValueSetter } from '@graphql-hive/router-query-planner'
import { parse } from 'graphql'
import type { ContextFetchNode, ContextValue } from '../graph/contexts.ts'
import type { Supergraph } from '../supergraph.ts'
import type { PlanText } from './plan-text.ts'

/**
 * Limits for Apollo's planner: it is slow, so it compares few alternatives. Planning with both limits took at most a
 * fifth of a second.
 */
const limits = { maxEvaluatedPlans: 100, pathsLimit: 200 }
const mostCharacters = 8000

/** Features of supergraphs that the second planner's own list leaves out: contexts, which the executor fills in, and tags of the response cache. */
export const furtherFeatures: readonly string[] = ['https://specs.apollo.dev/context/v0.1', 'https://specs.apollo.dev/cacheTag/v0.1']

/**
 * Loads the second planner (@apollo/query-planner), for operations that the first one cannot plan. It is far slower,
 * but finds a plan for an entity that requires its own fields and is reached through an entity of its own type. It
 * throws when it has no plan, or only one that our executor does not support.
 */
export async function openApolloPlanner(supergraph: Supergraph): Promise<PlanText> {
  const [{ QueryPlanner }, { Supergraph: ApolloSupergraph, operationFromDocument, DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES }] = await Promise.all([
    import('@apollo/query-planner'),
    import('@apollo/federation-internals'),
  ])
  // Its own list of features leaves out the access directives, and we have decided by them already.
  const supportedFeatures = new Set([...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, ...furtherFeatures])
  const read = ApolloSupergraph.build(supergraph.stripped(), { supportedFeatures })
  const planner = new QueryPlanner(read, { debug: limits })
  const schema = read.apiSchema()
  return async (text, active) => {
    if (text.length > mostCharacters) throw new Error('The operation is too long for the second planner')
    const { node } = planner.buildQueryPlan(operationFromDocument(schema, parse(text)), { overrideConditions: new Map(active.map(label => [label, true])) })
    if (!node) throw new Error('The second planner has no plan either')
    if (node.kind !== 'Subscription') return planNode(node)
    const first: PlanNode = { kind: 'Subscription', primary: fetchNode(node.primary) }
    return node.rest ? { kind: 'Sequence', nodes: [first, planNode(node.rest)] } : first
  }
}

function planNode(node: ApolloNode): PlanNode {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return { kind: node.kind, nodes: node.nodes.map(planNode) }
    case 'Flatten':
      return { kind: 'Flatten', path: node.path.map(pathSegment), node: planNode(node.node) }
    case 'Fetch':
      return fetchNode(node)
    default:
      throw notFollowed
  }
}

function fetchNode({
  serviceName,
  operation,
  operationKind,
  variableUsages,
  requires,
  inputRewrites = [],
  outputRewrites,
  contextRewrites = [],
}: ApolloFetch): FetchNode | ContextFetchNode {
  // It renames what a fetch brought at once, and the paths of later fetches have the new name; ours renames at the end.
  if (outputRewrites?.length || (contextRewrites.length > 0 && !requires)) throw notFollowed
  return {
    kind: 'Fetch',
    serviceName,
    operation,
    operationKind,
    ...(variableUsages && { variableUsages }),
    ...(requires && { requires: requires.map(requiredSelection) }),
    inputRewrites: inputRewrites.map(rewrite => {
      if (rewrite.kind !== 'ValueSetter') throw notFollowed
      const setter: ValueSetter = { path: rewrite.path.map(rewriteSegment), setValueTo: rewrite.setValueTo }
      return { ValueSetter: setter }
    }),
    ...(contextRewrites.length > 0 && { contexts: contextRewrites.map(contextValue) }),
  }
}

function contextValue(rewrite: FetchDataRewrite): ContextValue {
  if (rewrite.kind !== 'KeyRenamer') throw notFollowed
  const up = rewrite.path.lastIndexOf('..') + 1
  return { variable: rewrite.renameKeyTo, up, path: rewrite.path.slice(up).map(rewriteSegment) }
}

function requiredSelection(selection: QueryPlanSelectionNode): RequiresSelection {
  if (selection.kind === 'Field') {
    if (selection.alias !== undefined) throw notFollowed
    return { kind: 'Field', name: selection.name, ...(selection.selections && { selections: selection.selections.map(requiredSelection) }) }
  }
  if (selection.typeCondition === undefined) throw notFollowed
  return { kind: 'InlineFragment', typeCondition: selection.typeCondition, selections: selection.selections.map(requiredSelection) }
}

function pathSegment(segment: string | number): FlattenNodePathSegment {
  if (segment === '@') return '@'
  if (typeof segment !== 'string' || segment.startsWith('|')) throw notFollowed
  return { Field: segment }
}

const fragment = '... on '

const rewriteSegment = (segment: string): FetchNodePathSegment =>
  segment.startsWith(fragment) ? { TypenameEquals: [segment.slice(fragment.length)] } : { Key: segment }

const notFollowed = new Error('This plan has something that the executor does not follow')

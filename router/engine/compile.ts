import type {
  BatchFetchNode,
  EntityBatchAlias,
  FetchNode,
  FetchRewrite,
  FlattenNodePathSegment,
  PlanNode,
  RequiresSelection,
} from '@graphql-hive/router-query-planner'
import { parse } from 'graphql'
import type { Fetch } from './engine.ts'
import { type MergeShape, shapeOfFetch } from './merge.ts'
import { variablePrefix } from './planner.ts'

/** A plan made ready to run: every document parsed, every answer's shape known. */
export type Step = SequenceStep | ParallelStep | FetchStep | EntityStep

export interface SequenceStep {
  readonly kind: 'sequence'
  readonly steps: readonly Step[]
}

export interface ParallelStep {
  readonly kind: 'parallel'
  readonly steps: readonly Step[]
}

/** A fetch of root fields. */
export interface FetchStep {
  readonly kind: 'fetch'
  readonly fetch: Fetch
  readonly variables: readonly FetchVariable[]
  readonly shape: MergeShape
  readonly rewrites: readonly FetchRewrite[]
}

/** A fetch of fields of entities that stand somewhere in the data already. */
export interface EntityStep {
  readonly kind: 'entities'
  readonly fetch: Fetch
  readonly variables: readonly FetchVariable[]
  readonly groups: readonly EntityGroup[]
}

/** One `_entities` field of a fetch. */
export interface EntityGroup {
  /** `_entities`, or the alias that a batch gave it. */
  readonly key: string
  readonly representations: string
  readonly paths: readonly (readonly FlattenNodePathSegment[])[]
  readonly requires: readonly RequiresSelection[]
  readonly inputRewrites: readonly FetchRewrite[]
  readonly rewrites: readonly FetchRewrite[]
  readonly shape: MergeShape
}

export interface FetchVariable {
  /** In the fetch document. */
  readonly name: string
  /** In the client's operation. */
  readonly from: string
}

/** The steps of one operation; a subscription's first fetch stands apart, for it yields events. */
export interface CompiledPlan {
  readonly primary: FetchStep | null
  readonly root: Step | null
}

/** Compiles the plans of one operation, to be run one after the other. Throws for a plan of a kind that cannot occur. */
export function compilePlans(plans: readonly PlanNode[]): CompiledPlan {
  const [plan] = plans
  if (plan?.kind === 'Subscription') return { primary: compileFetch(plan.primary), root: null }
  if (plan?.kind === 'Sequence' && plan.nodes[0]?.kind === 'Subscription') {
    return { primary: compileFetch(plan.nodes[0].primary), root: { kind: 'sequence', steps: plan.nodes.slice(1).map(node => compileNode(node, [])) } }
  }
  const steps = plans.map(node => compileNode(node, []))
  return { primary: null, root: steps.length > 1 ? { kind: 'sequence', steps } : (steps[0] ?? null) }
}

function compileNode(node: PlanNode, path: readonly FlattenNodePathSegment[]): Step {
  switch (node.kind) {
    case 'Sequence':
      return { kind: 'sequence', steps: node.nodes.map(inner => compileNode(inner, path)) }
    case 'Parallel':
      return { kind: 'parallel', steps: node.nodes.map(inner => compileNode(inner, path)) }
    case 'Flatten':
      return compileNode(node.node, [...path, ...node.path])
    case 'Fetch':
      return node.requires ? compileEntities(node, [onlyGroup(node, node.requires, path)]) : compileFetch(node)
    case 'BatchFetch':
      return compileEntities(node, node.entityBatch.aliases)
    default:
      throw new Error(`A plan holds a ${node.kind} where none can be`)
  }
}

function compileFetch(node: FetchNode): FetchStep {
  const fetch = fetchOf(node)
  return { kind: 'fetch', fetch, variables: variablesOf(node), shape: shapeOfFetch(fetch.document), rewrites: node.outputRewrites ?? [] }
}

function compileEntities(node: FetchNode | BatchFetchNode, aliases: readonly EntityBatchAlias[]): EntityStep {
  const fetch = fetchOf(node)
  const shape = shapeOfFetch(fetch.document)
  const groups = aliases.map(
    (alias): EntityGroup => ({
      key: alias.alias,
      representations: alias.representationsVariableName,
      paths: alias.paths,
      requires: alias.requires,
      inputRewrites: alias.inputRewrites ?? [],
      rewrites: alias.outputRewrites ?? [],
      shape: shape.get(alias.alias) ?? new Map(),
    }),
  )
  return { kind: 'entities', fetch, variables: variablesOf(node), groups }
}

const onlyGroup = (node: FetchNode, requires: RequiresSelection[], path: readonly FlattenNodePathSegment[]): EntityBatchAlias => ({
  alias: '_entities',
  representationsVariableName: 'representations',
  paths: [[...path]],
  requires,
  inputRewrites: node.inputRewrites ?? [],
  outputRewrites: node.outputRewrites ?? [],
})

const fetchOf = (node: FetchNode | BatchFetchNode): Fetch => ({
  subgraph: node.serviceName,
  document: parse(node.operation, { noLocation: true }),
  text: node.operation,
  kind: node.operationKind ?? 'query',
})

const variablesOf = (node: FetchNode | BatchFetchNode): FetchVariable[] =>
  (node.variableUsages ?? []).map(name => ({ name, from: name.slice(variablePrefix.length) }))

import type { BatchFetchNode, EntityBatchAlias, FetchNode, FetchRewrite, PlanNode } from '@graphql-hive/router-query-planner'
import { type DocumentNode, parse, print, stripIgnoredCharacters } from 'graphql'
import { createKnownKeys, isToldWhole } from './data/known-keys.ts'
import { createKnownTypes } from './data/known-types.ts'
import { type MergeShape, shapeOfFetch } from './data/merge.ts'
import { createMerger, type Merger } from './data/merger.ts'
import { createPlanTree, isSettled, type Path, type PlacedDocument, type PlanTree } from './data/plan-tree.ts'
import { createRepresent, type RepresentInto } from './data/representations.ts'
import { createWalk, type Walk } from './data/walk.ts'
import type { Fetch } from './engine.ts'
import { variablePrefix } from './planner.ts'
import type { Supergraph } from './supergraph.ts'

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
  readonly merger: Merger
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
  readonly paths: readonly Path[]
  /** One for each path. */
  readonly walks: readonly Walk[]
  /** For each path the type of those objects that come without their type's name. */
  readonly types: readonly (string | null)[]
  /** For each path the name under which the run keeps the objects there for the next fetch that starts from them. */
  readonly memos: readonly (string | null)[]
  /**
   * For each path whether equally represented objects there are equal in everything: then one object stands for all of them,
   * and takes what they wait for once.
   */
  readonly alike: readonly boolean[]
  readonly representInto: RepresentInto
  readonly rewrites: readonly FetchRewrite[]
  readonly shape: MergeShape
  readonly merger: Merger
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
export function compilePlans(plans: readonly PlanNode[], supergraph: Supergraph): CompiledPlan {
  const keys = createKnownKeys()
  const placed = new Map<FetchNode | BatchFetchNode, PlacedDocument>()
  for (const plan of plans) placeDocuments(plan, [], placed)
  const tree = createPlanTree([...placed.values()], supergraph)
  const types = createKnownTypes([...placed.values()], tree, supergraph)
  const walkedTwice = repeatedPaths([...placed.values()], tree)
  // Under a condition one object may be left out of a fetch that is on its way to its equals: then each keeps its own.
  const mayShare = !plans.some(hasConditions)
  const [plan] = plans
  if (plan?.kind === 'Subscription') return { primary: compileFetch(plan.primary), root: null }
  if (plan?.kind === 'Sequence' && plan.nodes[0]?.kind === 'Subscription') {
    const steps = plan.nodes.slice(1).map(node => compileNode(node, []))
    return { primary: compileFetch(plan.nodes[0].primary), root: { kind: 'sequence', steps } }
  }
  const steps = plans.map(node => compileNode(node, []))
  return { primary: null, root: steps.length > 1 ? { kind: 'sequence', steps } : (steps[0] ?? null) }

  function compileNode(node: PlanNode, path: Path): Step {
    switch (node.kind) {
      case 'Sequence':
        return { kind: 'sequence', steps: node.nodes.map(inner => compileNode(inner, path)) }
      case 'Parallel':
        return { kind: 'parallel', steps: node.nodes.map(inner => compileNode(inner, path)) }
      case 'Flatten':
        return compileNode(node.node, [...path, ...node.path])
      case 'Fetch':
        return node.requires ? compileEntities(node, groupsOf(node, path)) : compileFetch(node)
      case 'BatchFetch':
        return compileEntities(node, groupsOf(node, path))
      default:
        throw new Error(`A plan holds a ${node.kind} where none can be`)
    }
  }

  function fetchOf(node: FetchNode | BatchFetchNode): Fetch {
    const { document } = placed.get(node)!
    const lean: DocumentNode = types.withoutKnown(document)
    const text = lean === document ? node.operation : stripIgnoredCharacters(print(lean))
    return { subgraph: node.serviceName, document: lean, text, kind: node.operationKind ?? 'query' }
  }

  function compileFetch(node: FetchNode): FetchStep {
    const fetch = fetchOf(node)
    const shape = shapeOfFetch(fetch.document)
    keys.add([], shape)
    return { kind: 'fetch', fetch, variables: variablesOf(node), shape, merger: createMerger(shape, supergraph), rewrites: node.outputRewrites ?? [] }
  }

  function compileEntities(node: FetchNode | BatchFetchNode, aliases: readonly EntityBatchAlias[]): EntityStep {
    const fetch = fetchOf(node)
    const shapes = shapeOfFetch(fetch.document)
    const groups = aliases.map((alias): EntityGroup => {
      const shape = shapes.get(alias.alias) ?? new Map()
      return {
        key: alias.alias,
        representations: alias.representationsVariableName,
        paths: alias.paths,
        walks: alias.paths.map(path => createWalk(path, supergraph)),
        types: alias.paths.map(types.at),
        memos: alias.paths.map(path => (walkedTwice.has(JSON.stringify(path)) ? JSON.stringify(path) : null)),
        alike: alias.paths.map(path => mayShare && !alias.inputRewrites?.length && isToldWhole(keys.below(path), alias.requires)),
        representInto: createRepresent(alias.requires, alias.inputRewrites ?? [], supergraph),
        rewrites: alias.outputRewrites ?? [],
        shape,
        merger: createMerger(shape, supergraph),
      }
    })
    for (const { paths, shape } of groups) for (const path of paths) keys.add(path, shape)
    return { kind: 'entities', fetch, variables: variablesOf(node), groups }
  }
}

/** Whether any path of a plan goes to objects of some types only. */
function hasConditions(node: PlanNode): boolean {
  const conditioned = (path: Path) => path.some(segment => typeof segment !== 'string' && 'TypeCondition' in segment)
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return node.nodes.some(hasConditions)
    case 'Flatten':
      return conditioned(node.path) || hasConditions(node.node)
    case 'BatchFetch':
      return node.entityBatch.aliases.some(alias => alias.paths.some(conditioned))
    default:
      return false
  }
}

/** The `_entities` fields of a fetch; none for a fetch of root fields. */
function groupsOf(node: FetchNode | BatchFetchNode, path: Path): readonly EntityBatchAlias[] {
  if (node.kind === 'BatchFetch') return node.entityBatch.aliases
  if (!node.requires) return []
  return [
    {
      alias: '_entities',
      representationsVariableName: 'representations',
      paths: [[...path]],
      requires: node.requires,
      inputRewrites: node.inputRewrites ?? [],
      outputRewrites: node.outputRewrites ?? [],
    },
  ]
}

/** Paths from which several fetches start, and where each of them meets the same objects. */
function repeatedPaths(placed: readonly PlacedDocument[], tree: PlanTree): Set<string> {
  const once = new Set<string>()
  const repeated = new Set<string>()
  for (const { entities } of placed) {
    for (const path of new Set([...(entities?.values() ?? [])].flat())) {
      const name = JSON.stringify(path)
      if (!once.has(name)) once.add(name)
      else if (isSettled(path, tree)) repeated.add(name)
    }
  }
  return repeated
}

/** Finds the fetches of a plan and parses their documents. */
function placeDocuments(node: PlanNode, path: Path, placed: Map<FetchNode | BatchFetchNode, PlacedDocument>): void {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      for (const inner of node.nodes) placeDocuments(inner, path, placed)
      return
    case 'Flatten':
      placeDocuments(node.node, [...path, ...node.path], placed)
      return
    case 'Subscription':
      placed.set(node.primary, { document: parse(node.primary.operation, { noLocation: true }), entities: null, requires: [] })
      return
    case 'Fetch':
    case 'BatchFetch': {
      const groups = groupsOf(node, path)
      placed.set(node, {
        document: parse(node.operation, { noLocation: true }),
        entities: groups.length > 0 ? new Map(groups.map(({ alias, paths }) => [alias, paths])) : null,
        requires: groups.flatMap(({ requires }) => requires),
      })
    }
  }
}

const variablesOf = (node: FetchNode | BatchFetchNode): FetchVariable[] =>
  (node.variableUsages ?? []).map(name => ({ name, from: name.slice(variablePrefix.length) }))

import type { BatchFetchNode, EntityBatchAlias, FetchNode, FetchRewrite, PlanNode } from '@graphql-hive/router-query-planner'
import { type DocumentNode, Kind, parse, print, stripIgnoredCharacters, visit } from 'graphql'
import { type MergeShape, shapeOfFetch } from '../data/merge.ts'
import type { Fetch } from '../engine.ts'
import { contextsOf, isContextual } from '../graph/contexts.ts'
import { findOperation } from '../operation/operation.ts'
import { patienceOf } from '../operation/patience.ts'
import { type SplitField, splitFields } from '../repairs/hive-differing-types/split-fields.ts'
import { type Keyed, withInnerNames } from '../repairs/hive-inner-aliases/inner-names.ts'
import { variablePrefix } from '../repairs/hive-variables/variables.ts'
import type { Supergraph } from '../supergraph.ts'
import { contextsFor } from './contexts.ts'
import { type CompiledPortion, inOrder, restsOf } from './incremental/deferred.ts'
import { type Portion, portionsOf } from './incremental/portions.ts'
import { createKnownKeys, isKnownWhole } from './known-keys.ts'
import { createKnownTypes } from './known-types.ts'
import { withLatest } from './latest.ts'
import { createMerger } from './merger.ts'
import { type Need, streamOn, streamsIn } from './needs.ts'
import { withoutVainWaits } from './order.ts'
import { createPlanTree, isSettled, type Path, type PlacedDocument, type PlanTree } from './plan-tree.ts'
import { createRepresent } from './representations.ts'
import type { CompiledPlan, EntityGroup, EntityStep, FetchStep, FetchVariable, Step } from './step.ts'
import { createWalk } from './walk.ts'

/**
 * Compiles the plans of one operation, to be run one after the other. @throws for a plan node of an unknown kind
 * @param latestBy field that is added to a subscription's events (`@shared`)
 * @param needs    which payloads of an incremental answer need what; null where everything is answered at once
 */
export function compilePlans(plans: readonly PlanNode[], supergraph: Supergraph, latestBy: string | null = null, needs: Need | null = null): CompiledPlan {
  const keys = createKnownKeys()
  const read = new Map<FetchNode | BatchFetchNode, Keyed>()
  for (const plan of plans) readFetches(plan, [], (node, fetch) => read.set(node, fetch))
  const named = withInnerNames([...read.values()], supergraph)
  const divided: readonly (readonly Portion[])[] = needs ? portionsOf(named, needs, supergraph) : named.map(fetch => [{ fetch, for: null }])
  const fetches = new Map([...read.keys()].map((node, index) => [node, { whole: named[index]!, portions: divided[index]! }]))
  const placed = divided.flat().map(({ fetch }) => placedDocument(fetch))
  const tree = createPlanTree(placed, supergraph)
  const types = createKnownTypes(placed, tree, supergraph)
  const streams = needs ? streamsIn(needs) : []
  const takesContexts = named.some(({ contexts }) => contexts.length > 0)
  const walkedTwice = takesContexts || streams.length > 0 ? new Set<string>() : repeatedPaths(placed, tree)
  const mayShare = mayShareObjects(plans, takesContexts, streams)
  const compiled = new Map<PlanNode, readonly CompiledPortion[]>()
  let timeoutMs = 0
  const [plan] = plans
  if (plan?.kind === 'Subscription') return { primary: compilePrimary(plan.primary), root: null, deferred: [], streams, timeoutMs }
  if (plan?.kind === 'Sequence' && plan.nodes[0]?.kind === 'Subscription') {
    const nodes = plan.nodes.slice(1)
    const steps = nodes.map(compileNode)
    const deferred = needs ? inOrder([{ kind: 'Sequence', nodes }], node => compiled.get(node)!) : []
    return { primary: compilePrimary(plan.nodes[0].primary), root: { kind: 'sequence', steps }, deferred, streams, timeoutMs }
  }
  const steps = plans.map(compileNode)
  const root = steps.length > 0 ? withoutVainWaits({ kind: 'sequence', steps }) : null
  return { primary: null, root, deferred: needs ? inOrder(plans, node => compiled.get(node)!) : [], streams, timeoutMs }

  function compileNode(node: PlanNode): Step {
    switch (node.kind) {
      case 'Sequence':
        return { kind: 'sequence', steps: node.nodes.map(compileNode) }
      case 'Parallel':
        return { kind: 'parallel', steps: node.nodes.map(compileNode) }
      case 'Flatten':
        return compileNode(node.node)
      case 'Fetch':
      case 'BatchFetch':
        return compileFetches(node)
      default:
        throw new Error(`A plan holds a ${node.kind} where none can be`)
    }
  }

  /** Compiles the portions of a fetch. @returns the one that the answer, or the first payload, waits for */
  function compileFetches(node: FetchNode | BatchFetchNode): Step {
    const { whole, portions } = fetches.get(node)!
    const compile = whole.groups.length > 0 ? compileEntities : compileFetch
    const steps = portions.map(portion => ({ step: compile(node, portion.fetch), for: portion.for }))
    if (needs)
      compiled.set(
        node,
        steps.flatMap(portion => [portion, ...restsOf(portion)]),
      )
    return steps[0]?.for === null ? steps[0].step : { kind: 'sequence', steps: [] }
  }

  /** Returns the fetch, the shape of its answer, and the fields to be restored in the answer. */
  function fetchOf(
    node: FetchNode | BatchFetchNode,
    planned: Keyed,
  ): { readonly fetch: Fetch; readonly shape: MergeShape; readonly split: readonly SplitField[] } {
    const { serviceName: subgraph, operationKind: kind = 'query' } = node
    const lean: DocumentNode = types.withoutKnown(planned.document)
    const { document, split } = splitFields(lean, subgraph, supergraph)
    const text = document === planned.document ? planned.text : stripIgnoredCharacters(print(document))
    const asked = findOperation(document, undefined)
    const own = typeof asked === 'string' ? 0 : patienceOf(asked, supergraph)
    timeoutMs = Math.max(timeoutMs, own)
    return { fetch: { subgraph, document, text, kind, ...(own > 0 && { timeoutMs: own }) }, shape: shapeOfFetch(lean), split }
  }

  function compileFetch(node: FetchNode | BatchFetchNode, planned: Keyed): FetchStep {
    const { fetch, shape, split } = fetchOf(node, planned)
    keys.add([], shape)
    const rewrites = [...planned.rewrites, ...split.map(renamerOf)]
    const { whole, portions } = fetches.get(node)!
    const roots = portions.length === 1 ? [...shape.keys()] : [...shapeOfFetch(whole.document).keys()]
    return { kind: 'fetch', fetch, variables: variablesOf(node, planned), shape, merger: createMerger(shape, supergraph, split), rewrites, roots }
  }

  function compilePrimary(node: FetchNode): FetchStep {
    const step = compileFetch(node, fetches.get(node)!.whole)
    return latestBy === null ? step : { ...step, fetch: withLatest(step.fetch, latestBy) }
  }

  function compileEntities(node: FetchNode | BatchFetchNode, planned: Keyed): EntityStep {
    const { fetch, shape: shapes, split } = fetchOf(node, planned)
    const { whole, portions } = fetches.get(node)!
    const wholes = portions.length === 1 ? shapes : shapeOfFetch(whole.document)
    // Parts of other payloads may complete the objects at the same time: then each keeps its own.
    const isFirst = portions.some(portion => portion.fetch === planned && portion.for === null)
    const groups = planned.groups.map((alias): EntityGroup => {
      const shape: MergeShape = shapes.get(alias.alias) ?? new Map()
      const below = split.flatMap(one => (one.path[0] === alias.alias ? [{ ...one, path: one.path.slice(1) }] : []))
      return {
        key: alias.alias,
        representations: alias.representationsVariableName,
        paths: alias.paths,
        through: alias.paths.map(path => (needs ? streamOn(needs, path) : null)),
        walks: alias.paths.map(path => createWalk(path, supergraph)),
        types: alias.paths.map(types.at),
        memos: alias.paths.map(path => (walkedTwice.has(JSON.stringify(path)) ? JSON.stringify(path) : null)),
        alike: alias.paths.map(
          path => mayShare && isFirst && !alias.inputRewrites?.length && isSettled(path, tree) && isKnownWhole(keys.below(path), alias.requires),
        ),
        sharesValues: !takesContexts,
        requires: alias.requires,
        representInto: createRepresent(alias.requires, alias.inputRewrites ?? [], supergraph),
        rewrites: [...(alias.outputRewrites ?? []), ...below.map(renamerOf)],
        shape,
        merger: createMerger(shape, supergraph, below),
        keys: [...(wholes.get(alias.alias) ?? shape).keys()].filter(key => key !== '__typename'),
      }
    })
    for (const { paths, shape } of groups) for (const path of paths) keys.add(path, shape)
    return { kind: 'entities', fetch, variables: variablesOf(node, planned), groups, rest: null, contexts: contextsFor(contextsIn(planned), fetch) }
  }
}

/** Maps a response key to the path segment of an error. */
const renamerOf = (split: SplitField): FetchRewrite => ({ KeyRenamer: { path: [{ Key: split.key }], renameKeyTo: split.for } })

/**
 * Whether one object may stand for equal ones. With a condition, or with an object added by a later fetch, a fetch may
 * omit one of several equal objects, and at two places equal objects may take different values from contexts.
 */
const mayShareObjects = (plans: readonly PlanNode[], takesContexts: boolean, streams: readonly unknown[]): boolean =>
  !takesContexts && !plans.some(hasConditions) && streams.length === 0

/** Whether any path of a plan leads to objects of some types only. */
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

/** Paths from which several fetches start, and where each of those fetches meets the same objects. */
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

/** Visits the fetches of a plan in its order, with their documents parsed. */
function readFetches(node: PlanNode, path: Path, visit: (node: FetchNode | BatchFetchNode, fetch: Keyed) => void): void {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      for (const inner of node.nodes) readFetches(inner, path, visit)
      return
    case 'Flatten':
      readFetches(node.node, [...path, ...node.path], visit)
      return
    case 'Subscription':
      visit(node.primary, readFetch(node.primary, path))
      return
    case 'Fetch':
    case 'BatchFetch':
      visit(node, readFetch(node, path))
      return
  }
}

function readFetch(node: FetchNode | BatchFetchNode, path: Path): Keyed {
  const groups = groupsOf(node, path)
  const rewrites = node.kind === 'BatchFetch' || groups.length > 0 ? [] : (node.outputRewrites ?? [])
  return {
    subgraph: node.serviceName,
    document: parse(node.operation, { noLocation: true }),
    text: node.operation,
    groups,
    rewrites,
    contexts: contextsOf(node),
  }
}

const placedDocument = ({ document, groups }: Keyed): PlacedDocument => ({
  document,
  entities: groups.length > 0 ? new Map(groups.map(({ alias, paths }) => [alias, paths])) : null,
  requires: groups.flatMap(({ requires }) => requires),
})

/** The values from contexts that a fetch uses: a portion may use fewer than the planned fetch. */
function contextsIn({ contexts, document }: Keyed): Keyed['contexts'] {
  if (contexts.length === 0) return contexts
  const used = new Set<string>()
  visit(document, { VariableDefinition: ({ variable }) => void used.add(variable.name.value) })
  return contexts.filter(({ variable }) => used.has(variable))
}

/** The client's variables that a fetch uses: a portion may use fewer than the planned fetch. */
function variablesOf(node: FetchNode | BatchFetchNode, { document, text }: Keyed): FetchVariable[] {
  const usages = node.variableUsages ?? []
  const [operation] = document.definitions
  const isPortion = text !== node.operation && document.definitions.length === 1 && operation?.kind === Kind.OPERATION_DEFINITION
  const defined = isPortion ? new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value)) : null
  return usages.filter(name => !isContextual(name) && (defined?.has(name) ?? true)).map(name => ({ name, from: name.slice(variablePrefix.length) }))
}

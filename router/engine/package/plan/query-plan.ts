import type { FetchNode, PlanNode, QueryPlan, QueryPlanSelectionNode } from '@apollo/query-planner'
import type { RequiresSelection } from '@graphql-hive/router-query-planner'
import { type DocumentNode, Kind, type OperationDefinitionNode, type OperationTypeNode, visit } from 'graphql'
import type { Fetch } from '../../engine.ts'
import type { Path } from '../../execute/plan-tree.ts'
import type { CompiledPlan, EntityGroup, EntityStep, FetchStep, Step } from '../../execute/step.ts'
import { type ShownFetch, showFetch } from './shown-fetch.ts'

/** A fetch as data sources get it: named after the client's operation, with the client's names of variables. */
export interface NamedFetch {
  /** Its text, with the client's response keys; made at the first use. */
  readonly shown: () => ShownFetch
  readonly operationName: string | undefined
  /** Names of variables in its text, by those of the engine's fetch; null where they are the same. */
  readonly renames: ReadonlyMap<string, string> | null
  /** Where the answer goes, `@` for each element of a list. */
  readonly path: (string | number)[]
}

/** Names the fetches of one plan: `<operation>__<subgraph>__<number>`; those of an anonymous operation stay anonymous. */
export function namesOf(plan: CompiledPlan, operationName: string | null, clientKeys: ReadonlyMap<string, string>): Map<Fetch, NamedFetch> {
  const named = new Map<Fetch, NamedFetch>()
  const steps = stepsOf(plan)
  for (const [at, step] of steps.entries()) {
    const name = operationName === null ? undefined : `${operationName}__${step.fetch.subgraph.replaceAll(/\W/g, '_')}__${at}`
    const path = step.kind === 'fetch' ? [] : writtenPath(step.groups[0]?.paths[0] ?? [], clientKeys)
    const add = (fetch: Fetch) => {
      const { document, ...rest } = rewrite({ ...step, fetch }, name)
      let shown: ShownFetch | undefined
      named.set(fetch, { ...rest, shown: () => (shown ??= showFetch(document, clientKeys)), operationName: name, path })
    }
    add(step.fetch)
    if (step.kind === 'entities') for (const { fetch } of step.contexts?.fetches ?? []) add(fetch)
  }
  return named
}

function stepsOf({ primary, root, deferred }: CompiledPlan): (FetchStep | EntityStep)[] {
  const steps: (FetchStep | EntityStep)[] = primary ? [primary] : []
  const add = (step: Step) => {
    if (step.kind === 'fetch' || step.kind === 'entities') steps.push(step)
    else step.steps.forEach(add)
  }
  if (root) add(root)
  for (const { step } of deferred) steps.push(step)
  return steps
}

function rewrite({ fetch, variables }: FetchStep | EntityStep, name: string | undefined): Pick<NamedFetch, 'renames'> & { readonly document: DocumentNode } {
  const renames = new Map(variables.flatMap(({ name: inner, from }) => (inner === from ? [] : [[inner, from] as const])))
  const taken = new Set<string>()
  visit(fetch.document, { VariableDefinition: node => void taken.add(node.variable.name.value) })
  // A client's variable may be named as one that the planner has declared.
  const mayRename = renames.size > 0 && [...renames.values()].every(from => !taken.has(from) || renames.has(from))
  if (!mayRename && name === undefined) return { document: fetch.document, renames: null }
  const document: DocumentNode = visit(fetch.document, {
    OperationDefinition: (node): OperationDefinitionNode | undefined => (name === undefined ? undefined : { ...node, name: { kind: Kind.NAME, value: name } }),
    Variable: node => {
      const from = mayRename ? renames.get(node.name.value) : undefined
      return from === undefined ? undefined : { ...node, name: { ...node.name, value: from } }
    },
  })
  return { document, renames: mayRename ? renames : null }
}

/** Writes a plan in the form of `@apollo/query-planner`, for people and tools to read: the engine runs its own. */
export function queryPlanOf(plan: CompiledPlan, names: ReadonlyMap<Fetch, NamedFetch>, clientKeys: ReadonlyMap<string, string>): QueryPlan {
  const { primary, root } = plan
  const named: Naming = { names, clientKeys }
  const rest = root ? nodeOf(root, named) : null
  if (!primary) return { kind: 'QueryPlan', ...(rest && { node: rest }) }
  return { kind: 'QueryPlan', node: { kind: 'Subscription', primary: fetchNode(primary, named, null), ...(rest && { rest }) } }
}

interface Naming {
  readonly names: ReadonlyMap<Fetch, NamedFetch>
  readonly clientKeys: ReadonlyMap<string, string>
}

function nodeOf(step: Step, names: Naming): PlanNode | null {
  switch (step.kind) {
    case 'fetch':
      return fetchNode(step, names, null)
    case 'entities': {
      const flattened = step.groups.flatMap(group =>
        group.paths.map((path): PlanNode => ({ kind: 'Flatten', path: writtenPath(path, names.clientKeys), node: fetchNode(step, names, group) })),
      )
      return together('Parallel', flattened)
    }
    case 'flow':
      return flowNode(step, names)
    default:
      return together(
        step.kind === 'sequence' ? 'Sequence' : 'Parallel',
        step.steps.flatMap(inner => nodeOf(inner, names) ?? []),
      )
  }
}

/** Writes steps with dependencies of their own as waves, which this form can tell. */
function flowNode({ steps, after }: Extract<Step, { kind: 'flow' }>, names: Naming): PlanNode | null {
  const waves: PlanNode[][] = []
  const waveOf: number[] = []
  for (const [at, step] of steps.entries()) {
    const wave = Math.max(-1, ...after[at]!.map(earlier => waveOf[earlier]!)) + 1
    waveOf.push(wave)
    const node = nodeOf(step, names)
    waves[wave] ??= []
    if (node) waves[wave].push(node)
  }
  return together(
    'Sequence',
    waves.flatMap(wave => together('Parallel', wave) ?? []),
  )
}

function together(kind: 'Sequence' | 'Parallel', nodes: PlanNode[]): PlanNode | null {
  if (nodes.length < 2) return nodes[0] ?? null
  return { kind, nodes }
}

function fetchNode({ fetch, variables }: FetchStep | EntityStep, { names }: Naming, group: EntityGroup | null): FetchNode {
  const { shown, operationName } = names.get(fetch)!
  return {
    kind: 'Fetch',
    serviceName: fetch.subgraph,
    variableUsages: variables.map(({ from }) => from),
    ...(group && { requires: group.requires.map(requiredNode) }),
    operation: shown().query,
    operationName,
    operationKind: fetch.kind as OperationTypeNode,
  }
}

function requiredNode(selection: RequiresSelection): QueryPlanSelectionNode {
  const selections = 'selections' in selection && selection.selections ? { selections: selection.selections.map(requiredNode) } : {}
  if (selection.kind === 'Field') return { kind: 'Field', name: selection.name, ...selections }
  return { kind: 'InlineFragment', typeCondition: (selection as { typeCondition: string }).typeCondition, selections: [], ...selections }
}

const writtenPath = (path: Path, clientKeys: ReadonlyMap<string, string>): string[] =>
  path.flatMap(segment => (segment === '@' ? ['@'] : 'Field' in segment ? [clientKeys.get(segment.Field) ?? segment.Field] : []))

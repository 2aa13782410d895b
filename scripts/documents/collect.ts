import { createHash } from 'node:crypto'
import {
  type DefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import type { Documents } from '../../router/door/documents/documents.ts'
import type { ListedOperation, Manifest } from '../../router/door/documents/manifest.ts'

/** A text of GraphQL and where it stands. */
export interface Source {
  readonly file: string
  readonly text: string
}

export interface Collecting {
  /** Judges documents against the graph. */
  readonly documents: Documents
  /** Whether every object asks for its `__typename`, as Apollo Client does: its cache goes by it. @default false */
  readonly typename?: boolean | undefined
}

/**
 * Makes a manifest of all operations in the sources, each with the fragments that it uses, wherever they stand.
 * @returns what is wrong instead, a line each
 */
export function collect(sources: readonly Source[], { documents, typename = false }: Collecting): Manifest | readonly string[] {
  const mistakes: string[] = []
  const operations = new Map<string, Placed<OperationDefinitionNode>>()
  const fragments = new Map<string, Placed<FragmentDefinitionNode>>()
  const place = <Node extends FragmentDefinitionNode | OperationDefinitionNode>(placed: Map<string, Placed<Node>>, node: Node, file: string) => {
    const name = node.name?.value
    const first = name !== undefined && placed.get(name)
    if (name === undefined) mistakes.push(`${file}: an operation has no name: name it, for the manifest goes by names`)
    else if (!first) placed.set(name, { node, file })
    else if (print(first.node) !== print(node)) mistakes.push(`${file}: ${name} is something else in ${first.file}: give one of them another name`)
  }
  for (const { file, text } of sources)
    for (const definition of definitionsIn(text, line => mistakes.push(`${file}: ${line}`))) {
      if (definition.kind === Kind.OPERATION_DEFINITION) place(operations, definition, file)
      else if (definition.kind === Kind.FRAGMENT_DEFINITION) place(fragments, definition, file)
      else mistakes.push(`${file}: holds types; name files with operations alone`)
    }
  const listed: ListedOperation[] = []
  for (const [name, { node, file }] of [...operations].sort(byName)) {
    const used = usedFragments(node, fragments)
    const whole = { kind: Kind.DOCUMENT as const, definitions: [node, ...[...used].sort().map(each => fragments.get(each)!.node)] }
    const body = print(typename ? visit(whole, { SelectionSet: withTypename }) : whole)
    const read = documents.read(body)
    if ('errors' in read) mistakes.push(...read.errors.map(({ message }) => `${file}: ${name}: ${message}`))
    listed.push({ id: createHash('sha256').update(body).digest('hex'), name, type: node.operation, body })
  }
  return mistakes.length > 0 ? mistakes : { format: 'apollo-persisted-query-manifest', version: 1, operations: listed }
}

interface Placed<Node> {
  readonly node: Node
  readonly file: string
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => (one < other ? -1 : 1)

function definitionsIn(text: string, complain: (line: string) => void): readonly DefinitionNode[] {
  try {
    return parse(text, { noLocation: true }).definitions
  } catch (error) {
    complain((error as Error).message)
    return []
  }
}

/** Names of the fragments that an operation uses, those of fragments among them. One that stands nowhere is left to validation. */
function usedFragments(operation: OperationDefinitionNode, fragments: ReadonlyMap<string, Placed<FragmentDefinitionNode>>): ReadonlySet<string> {
  const used = new Set<string>()
  const look = (node: OperationDefinitionNode | FragmentDefinitionNode) =>
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value)
        if (!fragment || used.has(value)) return
        used.add(value)
        look(fragment.node)
      },
    })
  look(operation)
  return used
}

const typenameField: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }

/** As Apollo Client adds it: everywhere but at the root of an operation, where it is asked for already, and in what is asked of the schema. */
function withTypename(set: SelectionSetNode, _key: unknown, parent: unknown): SelectionSetNode | undefined {
  if ((parent as { kind?: string } | undefined)?.kind === Kind.OPERATION_DEFINITION) return undefined
  const isAsked = (selection: SelectionNode) => selection.kind === Kind.FIELD && selection.name.value.startsWith('__')
  return set.selections.some(isAsked) ? undefined : { ...set, selections: [...set.selections, typenameField] }
}

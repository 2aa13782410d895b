import { type ArgumentNode, type DocumentNode, Kind, type OperationDefinitionNode, parse, print, type SelectionSetNode, valueFromASTUntyped } from 'graphql'

/** A field that another field requires, with its arguments and the required selections of its value. */
export interface Requirement {
  readonly name: string
  readonly given: readonly ArgumentNode[]
  readonly fields: readonly Requirement[]
}

/** What subgraphs declare of a supergraph's fields: their types, and their `@requires`. */
export interface SubgraphTypes {
  /**
   * Returns the type of a field in one subgraph, e.g. `[User!]`; undefined for a field that the supergraph does not
   * have.
   * @param coordinate `Type.field`
   */
  typeIn(subgraph: string, coordinate: string): string | undefined
  /** Names of the subgraphs in which some field has another type than in the supergraph. */
  readonly differing: ReadonlySet<string>
  /** Returns the fields that a field requires (`@requires`) in one subgraph. */
  requiredFor(subgraph: string, coordinate: string): readonly Requirement[]
}

/** Reads subgraph types from the join directives of a supergraph document. */
export function readSubgraphTypes(document: DocumentNode): SubgraphTypes {
  const names = graphNames(document)
  const types = new Map<string, string>()
  const inSubgraphs = new Map<string, string>()
  const differing = new Set<string>()
  const required = new Map<string, readonly Requirement[]>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue
    for (const field of definition.fields ?? []) {
      const coordinate = `${definition.name.value}.${field.name.value}`
      const declared = print(field.type)
      types.set(coordinate, declared)
      for (const directive of field.directives ?? []) {
        if (directive.name.value !== 'join__field') continue
        const { graph, type, requires } = Object.fromEntries((directive.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value)]))
        const subgraph = names.get(graph as string)
        if (typeof requires === 'string') required.set(`${subgraph} ${coordinate}`, requirementsOf(requires))
        if (subgraph === undefined || typeof type !== 'string' || type === declared) continue
        inSubgraphs.set(`${subgraph} ${coordinate}`, type)
        differing.add(subgraph)
      }
    }
  }
  return {
    typeIn: (subgraph, coordinate) => inSubgraphs.get(`${subgraph} ${coordinate}`) ?? types.get(coordinate),
    differing,
    requiredFor: (subgraph, coordinate) => required.get(`${subgraph} ${coordinate}`) ?? [],
  }
}

/** Returns the subgraphs by their names in the join directives. */
export function graphNames(document: DocumentNode): Map<string, string> {
  const names = new Map<string, string>()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.ENUM_TYPE_DEFINITION || definition.name.value !== 'join__Graph') continue
    for (const { name, directives } of definition.values ?? []) {
      const given = directives?.find(directive => directive.name.value === 'join__graph')?.arguments?.find(argument => argument.name.value === 'name')
      if (given?.value.kind === Kind.STRING) names.set(name.value, given.value.value)
    }
  }
  return names
}

function requirementsOf(fields: string): readonly Requirement[] {
  const read = (set: SelectionSetNode): Requirement[] =>
    set.selections.flatMap(selection => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return []
      if (selection.kind === Kind.INLINE_FRAGMENT) return read(selection.selectionSet)
      const { name, arguments: given = [], selectionSet } = selection
      return [{ name: name.value, given, fields: selectionSet ? read(selectionSet) : [] }]
    })
  return read((parse(`{${fields}}`, { noLocation: true }).definitions[0] as OperationDefinitionNode).selectionSet)
}

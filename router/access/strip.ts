import { type DefinitionNode, type DocumentNode, Kind, visit } from 'graphql'
import { accessFeature, directiveNames } from './rules.ts'

/**
 * Returns the supergraph without its access directives: their uses, definitions, links and types. For the stock
 * gateway, which cannot load a supergraph with them; its caller applies the access filter first.
 */
export function withoutAccess(supergraph: DocumentNode): DocumentNode {
  const names = directiveNames(supergraph.definitions)
  const own = new Set<string>()
  for (const definition of supergraph.definitions) {
    if (definition.kind !== Kind.DIRECTIVE_DEFINITION || !names.has(definition.name.value)) continue
    visit(definition, { NamedType: ({ name }) => void own.add(name.value) })
  }
  const isAccess = (definition: DefinitionNode): boolean =>
    (definition.kind === Kind.DIRECTIVE_DEFINITION && names.has(definition.name.value)) ||
    (definition.kind === Kind.SCALAR_TYPE_DEFINITION && own.has(definition.name.value))
  const definitions = supergraph.definitions.filter(definition => !isAccess(definition))
  return visit(
    { ...supergraph, definitions },
    {
      SchemaDefinition: node => ({ ...node, directives: node.directives?.filter(link => !accessFeature(link)) ?? [] }),
      Directive: node => (names.has(node.name.value) ? null : undefined),
    },
  )
}

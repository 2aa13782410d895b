import { type ConstDirectiveNode, type DirectiveNode, type DocumentNode, Kind, valueFromASTUntyped } from 'graphql'

/** Maximum length of a list, as declared by `@listSize`. */
export interface ListSize {
  /** Length that is assumed where no argument limits it. */
  readonly assumed: number | null
  /** Arguments that limit the length, each with the path to a field within it; the greatest value counts. */
  readonly slicing: readonly (readonly string[])[]
  /** Fields of the field's result whose lists have this length; empty when the field itself is the list. */
  readonly sized: ReadonlySet<string>
}

/**
 * Costs that a supergraph declares (IBM's cost specification, as federation composes it). Without a declaration an
 * object costs 1 and a leaf 0.
 */
export interface Costs {
  /** Weights of object types, scalars and enums, by name. */
  readonly types: ReadonlyMap<string, number>
  /** Weights of fields, by `Type.field`: they replace the weights of their types. */
  readonly fields: ReadonlyMap<string, number>
  readonly lists: ReadonlyMap<string, ListSize>
  /** Weights of arguments, by `Type.field(argument)`, and of input fields, by `Input.field`. */
  readonly inputs: ReadonlyMap<string, number>
}

/**
 * Reads the `@cost` and `@listSize` of a supergraph. Weights below 0 count as 0, so that no field makes an operation
 * cheaper.
 */
export function readCosts(document: DocumentNode): Costs {
  const names = namesIn(document)
  const types = new Map<string, number>()
  const fields = new Map<string, number>()
  const lists = new Map<string, ListSize>()
  const inputs = new Map<string, number>()
  const weigh = (into: Map<string, number>, coordinate: string, directives: readonly ConstDirectiveNode[] | undefined) => {
    const weight = names && argumentsOf(directives, names.cost)?.weight
    if (typeof weight === 'number') into.set(coordinate, Math.max(0, weight))
  }
  for (const node of names ? document.definitions : []) {
    switch (node.kind) {
      case Kind.SCALAR_TYPE_DEFINITION:
      case Kind.ENUM_TYPE_DEFINITION:
        weigh(types, node.name.value, node.directives)
        break
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        for (const field of node.fields ?? []) weigh(inputs, `${node.name.value}.${field.name.value}`, field.directives)
        break
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION:
        weigh(types, node.name.value, node.directives)
        for (const field of node.fields ?? []) {
          const coordinate = `${node.name.value}.${field.name.value}`
          weigh(fields, coordinate, field.directives)
          const size = argumentsOf(field.directives, names!.listSize)
          if (size) lists.set(coordinate, listSizeOf(size))
          for (const argument of field.arguments ?? []) weigh(inputs, `${coordinate}(${argument.name.value})`, argument.directives)
        }
    }
  }
  return { types, fields, lists, inputs }
}

const listSizeOf = ({ assumedSize, slicingArguments, sizedFields }: Record<string, unknown>): ListSize => ({
  assumed: typeof assumedSize === 'number' ? Math.max(0, assumedSize) : null,
  slicing: textsOf(slicingArguments).map(way => way.split('.')),
  sized: new Set(textsOf(sizedFields)),
})

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

const argumentsOf = (directives: readonly DirectiveNode[] | undefined, name: string): Record<string, unknown> | undefined => {
  const used = directives?.find(directive => directive.name.value === name)
  return used && Object.fromEntries((used.arguments ?? []).map(each => [each.name.value, valueFromASTUntyped(each.value)]))
}

/** Returns the directives' names, by the schema's `@link`; null when it links to no cost specification. */
function namesIn({ definitions }: DocumentNode): { readonly cost: string; readonly listSize: string } | null {
  for (const definition of definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue
    for (const link of definition.directives ?? []) {
      const { url, as = 'cost', import: imported } = argumentsOf([link], link.name.value) ?? {}
      if (typeof url !== 'string' || !/\/cost\/v0\.1$/.test(url)) continue
      const nameOf = (directive: string, otherwise: string) => {
        for (const each of Array.isArray(imported) ? (imported as (string | { name: string; as?: string })[]) : []) {
          if (each === directive) return directive.slice(1)
          if (typeof each === 'object' && each.name === directive) return (each.as ?? each.name).slice(1)
        }
        return otherwise
      }
      return { cost: nameOf('@cost', String(as)), listSize: nameOf('@listSize', `${as}__listSize`) }
    }
  }
  return null
}

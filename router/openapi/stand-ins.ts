import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'

/** A place of an operation's answer that has no fields of its own. */
export interface Leaf {
  /** From the root, with `[]` for the entries of a list. */
  readonly at: string
  /** The place of the object that it is a field of. */
  readonly owner: string
  readonly type: GraphQLLeafType
  readonly nullable: boolean
  readonly description: string | null
  /** What stands there, unlike what stands anywhere else. A Boolean can only be told by what changes with it. */
  readonly standIn: unknown
}

/** A place that holds an object, or a list. */
export interface Holder {
  readonly at: string
  readonly type: GraphQLCompositeType
  readonly nullable: boolean
  readonly isList: boolean
  readonly description: string | null
}

/** Everything that an operation may answer. */
export interface Answerable {
  readonly leaves: readonly Leaf[]
  readonly holders: readonly Holder[]
  /** An answer in which every place holds its stand-in, but for what `instead` says: by place, another value. */
  answer(instead?: ReadonlyMap<string, unknown>): Record<string, unknown>
}

/** Reads an operation's selection. Each list has one entry; an object behind an interface or union has the fields of every member. */
export function answerable(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  root: GraphQLObjectType,
): Answerable {
  const leaves = new Map<string, Leaf>()
  const holders = new Map<string, Holder>()
  /** Places as they were met: what holds others comes before them. */
  const order = new Set<string>()

  const read = (selections: SelectionSetNode, parent: GraphQLCompositeType, owner: string): void => {
    for (const { node, on } of fieldsOf(selections, parent, schema, fragments)) {
      const field = fieldOf(on, node.name.value)
      if (!field) continue
      visit(field, node, owner === '' ? keyOf(node) : `${owner}.${keyOf(node)}`, owner)
    }
  }
  const visit = (field: GraphQLField<unknown, unknown>, node: FieldNode, at: string, owner: string): void => {
    let type: GraphQLOutputType = field.type
    let place = at
    for (;;) {
      const nullable = !isNonNullType(type)
      const open: GraphQLOutputType = isNonNullType(type) ? type.ofType : type
      const named = getNamedType(open)
      const description = field.description ?? null
      order.add(place)
      if (isListType(open)) {
        holders.set(place, { at: place, type: named as GraphQLCompositeType, nullable, isList: true, description })
        type = open.ofType
        place = `${place}[]`
        continue
      }
      if (isLeafType(open)) leaves.set(place, { at: place, owner, type: open, nullable, description, standIn: standIn(open, order.size) })
      else {
        holders.set(place, { at: place, type: open as GraphQLCompositeType, nullable, isList: false, description })
        if (node.selectionSet) read(node.selectionSet, open as GraphQLCompositeType, place)
      }
      return
    }
  }
  read(operation.selectionSet, root, '')

  return {
    leaves: [...leaves.values()],
    holders: [...holders.values()],
    answer(instead = new Map()) {
      const answer: Record<string, unknown> = {}
      const put = (at: string, value: unknown) => {
        let target: unknown = answer
        const steps = at.match(/\[\]|[^.[\]]+/g)!
        for (const [index, step] of steps.entries()) {
          const key = step === '[]' ? 0 : step
          const holder = target as Record<string | number, unknown>
          if (typeof holder !== 'object' || holder === null) return
          if (index === steps.length - 1) holder[key] = value
          else target = holder[key]
        }
      }
      const gone: string[] = []
      for (const at of order) {
        if (gone.some(each => at.startsWith(`${each}.`) || at.startsWith(`${each}[]`))) continue
        const holder = holders.get(at)
        if (instead.has(at)) {
          put(at, instead.get(at))
          gone.push(at)
        } else put(at, holder ? (holder.isList ? [] : {}) : leaves.get(at)!.standIn)
      }
      return answer
    },
  }
}

/** A value of a type that no other place has. */
export function standIn(type: GraphQLLeafType, index: number): unknown {
  // As enum values are written: mappers turn them to lower case, and are told by that.
  if (isEnumType(type)) return `STAND_IN_${index}_E`
  switch (type.name) {
    case 'Int':
    case 'BigInt':
      return 700_001 + index
    case 'Float':
      return 700_001.5 + index
    case 'Boolean':
      return true
    case 'DateTime':
      return new Date(Date.UTC(2001, 0, 1, 0, index)).toISOString()
    case 'URL':
      return `https://stand-in-${index}-e.example/`
    case 'EmailAddress':
      return `stand-in-${index}-e@example.test`
    case 'JSON':
      return { standIn: index }
    default:
      return `stand-in-${index}-e`
  }
}

const keyOf = (node: FieldNode): string => node.alias?.value ?? node.name.value

const fieldOf = (type: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined =>
  'getFields' in type ? type.getFields()[name] : undefined

/** The fields that a selection names, those of fragments included, each with the type that it is a field of. */
function* fieldsOf(
  { selections }: SelectionSetNode,
  parent: GraphQLCompositeType,
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Generator<{ readonly node: FieldNode; readonly on: GraphQLCompositeType }> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield { node: selection, on: parent }
    else {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection
      const name = fragment.typeCondition?.name.value
      const on = name === undefined ? parent : schema.getType(name)
      if (isObjectType(on) || isAbstractType(on)) yield* fieldsOf(fragment.selectionSet, on, schema, fragments)
    }
  }
}

import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql'

/**
 * Whether graphql-jit runs a document as graphql-js does. It orders mutations differently, does not survive a
 * `resolveType` that throws, writes literal arguments into its code as JSON, names its functions after types, fields
 * and paths with an ambiguous separator, and generates endless code for a recursive input type.
 */
export function mayCompile(schema: GraphQLSchema, document: DocumentNode): boolean {
  let may = true
  const refuse = () => {
    may = false
  }
  const types = new TypeInfo(schema)
  const fieldsByName = new Map<string, string>()
  const pathsByName = new Map<string, string>()
  const path: string[] = []
  const claim = (names: Map<string, string>, name: string, owner: string) => {
    const known = names.get(name)
    if (known === undefined) names.set(name, owner)
    else if (known !== owner) refuse()
  }
  const checkField = (node: FieldNode, field: GraphQLField<unknown, unknown>, parent: string) => {
    const type = getNamedType(field.type)
    if (isAbstractType(type) && type.name !== '_Entity') refuse()
    if (isObjectType(type) && type.isTypeOf) refuse()
    claim(fieldsByName, parent + field.name, `${parent}.${field.name}`)
    for (const argument of field.args) {
      if (argument.defaultValue !== undefined && !isPlain(argument.defaultValue)) refuse()
      const value = node.arguments?.find(({ name }) => name.value === argument.name)?.value
      if (value && value.kind !== Kind.VARIABLE && (hasVariable(value) || !isPlain(valueFromAST(value, argument.type)))) refuse()
    }
  }
  visit(
    document,
    visitWithTypeInfo(types, {
      OperationDefinition(node) {
        if (node.operation === 'mutation') refuse()
      },
      VariableDefinition(node) {
        const type = typeFromAST(schema, node.type as NamedTypeNode)
        if (type && holdsItself(getNamedType(type))) refuse()
      },
      FragmentDefinition: {
        enter: node => void path.push(`...${node.name.value}`),
        leave: () => void path.pop(),
      },
      InlineFragment: {
        enter: node => void path.push(node.typeCondition?.name.value ?? ''),
        leave: () => void path.pop(),
      },
      Field: {
        enter(node) {
          path.push((node.alias ?? node.name).value)
          claim(pathsByName, path.toReversed().join('_'), path.join('/'))
          const parent = types.getParentType()
          const field = types.getFieldDef()
          if (!field || !parent) return
          if (field.name !== '__typename') checkField(node, field, parent.name)
        },
        leave: () => void path.pop(),
      },
      Directive: refuse,
    }),
  )
  return may
}

/** Whether a value of an input type may contain, at any depth, a value of an enclosing type. */
function holdsItself(type: GraphQLNamedType, within: ReadonlySet<GraphQLNamedType> = new Set()): boolean {
  if (!isInputObjectType(type)) return false
  if (within.has(type)) return true
  const inside = new Set(within).add(type)
  return Object.values(type.getFields()).some(field => holdsItself(getNamedType(field.type), inside))
}

/** Whether a literal contains a variable, whose value is only known at run time. */
function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable)
  if (value.kind === Kind.OBJECT) return value.fields.some(field => hasVariable(field.value))
  return value.kind === Kind.VARIABLE
}

/** Whether a value survives a JSON round trip unchanged. */
function isPlain(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isPlain)
  if (typeof value !== 'object') return false
  const prototype = Object.getPrototypeOf(value)
  return (prototype === null || prototype === Object.prototype) && Object.values(value).every(isPlain)
}

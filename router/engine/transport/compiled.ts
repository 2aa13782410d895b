import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type NamedTypeNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { withoutCodeCache } from '../code.ts'
import { jsonSafe } from './json-safe.ts'
import { counted, isThenable, meterLists } from './lists.ts'

/** Executes one document on one schema; data is JSON-safe. */
export type Run = (contextValue: object, variables: Readonly<Record<string, unknown>>, rootValue?: unknown) => ExecutionResult | Promise<ExecutionResult>

type Compiler = typeof import('graphql-jit')

let loading: Promise<Compiler | null> | null = null

/** The compiler, loaded when something is worth compiling; null where it cannot work, e.g. where code may not be generated. */
export const loadCompiler = (): Promise<Compiler | null> => {
  loading ??= import('graphql-jit').catch(() => null)
  return loading
}

/**
 * Compiles a document with graphql-jit, to a run that answers what graphql-js would. Undefined for documents that it would
 * run otherwise (`mayCompile`) or not at all.
 * @param interpreted runs the same document with graphql-js; asked when variables are refused, for the words of that differ
 */
export function compileDocument(compiler: Compiler, schema: GraphQLSchema, document: DocumentNode, interpreted: Run): Run | undefined {
  if (!mayCompile(schema, document)) return undefined
  const compiled = withSettledLists(schema, () =>
    compiler.compileQuery(schema, document, undefined, { customSerializers: jsonSafeSerializers(schema), disablingCapturingStackErrors: true }),
  )
  if (!compiler.isCompiledQuery(compiled)) return undefined
  return (contextValue, variables, rootValue) => {
    const result = compiled.query(rootValue, contextValue, variables as Record<string, unknown>)
    return result instanceof Promise ? result.then(checked) : checked(result)

    function checked(result: ExecutionResult): ExecutionResult | Promise<ExecutionResult> {
      if (!result.errors) return result
      // Nothing was run yet when there is no data at all.
      if (result.data === undefined) return interpreted(contextValue, variables, rootValue)
      return { data: result.data, errors: result.errors.map(asRefusedArgument) }
    }
  }
}

/** An argument that was refused while running says so nowhere but in its words: no resolver threw it. */
const asRefusedArgument = (error: GraphQLError): GraphQLError =>
  error.originalError === undefined && error.message.startsWith('Argument "')
    ? new GraphQLError(error.message, { path: error.path, extensions: { code: 'BAD_USER_INPUT' } })
    : error

/**
 * Whether graphql-jit runs a document as graphql-js does. It keeps a mutation's order in ways of its own, does not survive a
 * `resolveType` that throws, writes literal arguments into its code as JSON, and names its functions after types, fields and
 * paths without a separator that could not stand in a name; for an input type that holds itself it writes code without end.
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

/** Whether a value of an input type may hold, at any depth, one of a type that it stands in. */
function holdsItself(type: GraphQLNamedType, within: ReadonlySet<GraphQLNamedType> = new Set()): boolean {
  if (!isInputObjectType(type)) return false
  if (within.has(type)) return true
  const inside = new Set(within).add(type)
  return Object.values(type.getFields()).some(field => holdsItself(getNamedType(field.type), inside))
}

/** Whether a variable stands within a literal, which has no value until it runs. */
function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable)
  if (value.kind === Kind.OBJECT) return value.fields.some(field => hasVariable(field.value))
  return value.kind === Kind.VARIABLE
}

/** Whether a value is the same after it was written as JSON and read again. */
function isPlain(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isPlain)
  if (typeof value !== 'object') return false
  const prototype = Object.getPrototypeOf(value)
  return (prototype === null || prototype === Object.prototype) && Object.values(value).every(isPlain)
}

const serializersOf = new WeakMap<GraphQLSchema, Record<string, (value: unknown) => unknown>>()

/** Scalars of a schema's own, so that what they answer is JSON-safe when it comes and need not be gone through again. */
function jsonSafeSerializers(schema: GraphQLSchema): Record<string, (value: unknown) => unknown> {
  const known = serializersOf.get(schema)
  if (known) return known
  const serializers: Record<string, (value: unknown) => unknown> = {}
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isLeafType(type) || !isScalarType(type) || isSpecifiedScalarType(type)) continue
    serializers[type.name] = value => {
      const serialized = type.serialize(value)
      // Undefined makes it an error, as null does with graphql-js.
      return serialized === null || serialized === undefined ? undefined : jsonSafe(serialized)
    }
  }
  serializersOf.set(schema, serializers)
  return serializers
}

/**
 * Compiles while every list field with a resolver of its own waits for the elements of its list: graphql-jit puts an element that is
 * rejected at the end of the list instead of at its place. It reads resolvers only while it compiles.
 */
function withSettledLists<Compiled>(schema: GraphQLSchema, compile: () => Compiled): Compiled {
  const fields = meterLists(schema).map(({ field, own }) => ({ field, resolve: field.resolve!, own }))
  try {
    for (const { field, own } of fields) if (own) field.resolve = counted((...call) => settled(own(...call)))
    return withoutCodeCache(compile)
  } finally {
    for (const { field, resolve } of fields) field.resolve = resolve
  }
}

const settled = (list: unknown) => (isThenable(list) ? list.then(settle) : settle(list))

function settle(list: unknown): unknown {
  if (!Array.isArray(list) || !list.some(isThenable)) return list
  return Promise.all(list.map(item => (isThenable(item) ? item.then(undefined, asError) : item)))
}

/** An element that is an error is told where it stands. */
const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(`Unexpected error value: ${String(cause)}`))

import {
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromASTUntyped,
} from 'graphql'
import type { JsonSchema, OperationRow } from '../rest/row.ts'
import { inputOrNull, inputSchema, type Named, withDescription } from './schema.ts'

/** A value that a request brings, as the graph knows it. */
export interface Brought {
  readonly schema: JsonSchema
  /** Whether the graph refuses an operation without it. */
  readonly required: boolean
}

/** What a row takes, by the names that it has on the route. */
export interface Taken {
  readonly params: ReadonlyMap<string, Brought>
  readonly query: ReadonlyMap<string, Brought>
  readonly body: ReadonlyMap<string, Brought>
  /** Null: it takes none. */
  readonly idempotencyKey: 'wanted' | 'needed' | null
  readonly takesVersion: boolean
}

/** As text that `toEnum` would change, and nothing else. */
const standInOf = (index: number): string => `stand_in_${index}_e`
const standInVersion = 700_000

/**
 * Finds out what a row takes by watching its mapper at work: every value of a request is one that no other has, and the variable that it
 * turns up in says what it is.
 * @throws Error for a value that the mapper lets no variable have: the graph cannot say what that is
 */
export function seeInput(row: OperationRow, schema: GraphQLSchema, operation: OperationDefinitionNode, root: GraphQLObjectType, named: Named): Taken {
  let met = 0
  const standIns = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, standInOf(met++)]))
  const params = standIns([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name!))
  const [query, body] = [standIns(row.query ?? []), standIns(row.body ?? [])]
  const idempotencyKey = standInOf(met++)
  const variables = row.variables({ params, query, body, idempotencyKey, expectedVersion: standInVersion })

  const places = [...placesOf(variables, schema, operation, root)]
  const brought = (where: string, values: Readonly<Record<string, string>>): ReadonlyMap<string, Brought> =>
    new Map(
      Object.entries(values).map(([name, standIn]) => {
        const place = places.find(({ value }) => typeof value === 'string' && value.toLowerCase() === standIn)
        if (!place) throw new Error(`the ${where} ${name} reaches no variable of the operation as it is: map it to one, or take it off the row`)
        const { type, description, byDefault } = place
        // Nothing in a path or query string is null.
        const made = where === 'field' ? inputOrNull(type, named) : inputSchema(type, named)
        const schema = byDefault === undefined ? made : { ...made, default: byDefault }
        return [name, { schema: withDescription(schema, description), required: isNonNullType(type) && byDefault === undefined }]
      }),
    )
  const keyed = places.find(({ value }) => value === idempotencyKey)
  return {
    params: brought('parameter', params),
    query: brought('query parameter', query),
    body: brought('field', body),
    idempotencyKey: keyed ? (isNonNullType(keyed.type) ? 'needed' : 'wanted') : null,
    takesVersion: places.some(({ value }) => value === standInVersion),
  }
}

interface Place {
  readonly value: unknown
  readonly type: GraphQLInputType
  readonly description: string | null
  readonly byDefault: unknown
}

/** Every value of the variables, down through inputs, with what the graph says of its place. */
function* placesOf(
  variables: Readonly<Record<string, unknown>>,
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  root: GraphQLObjectType,
): Generator<Place> {
  for (const { variable, type: node, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value
    const type = typeFromAST(schema, node as never) as GraphQLInputType | undefined
    if (!type || variables[name] === undefined) continue
    const argument = argumentOf(name, operation, root)
    const byDefault = defaultValue ? valueFromASTUntyped(defaultValue) : argument?.defaultValue
    yield* within(variables[name], { type, description: argument?.description ?? null, byDefault })
  }
}

function* within(value: unknown, { type, description, byDefault }: Omit<Place, 'value'>): Generator<Place> {
  yield { value, type, description, byDefault }
  const open = isNonNullType(type) ? type.ofType : type
  if (isListType(open) && Array.isArray(value)) for (const item of value) yield* within(item, { type: open.ofType, description, byDefault: undefined })
  if (!isInputObjectType(open) || typeof value !== 'object' || value === null) return
  const fields: Readonly<Record<string, GraphQLInputField>> = open.getFields()
  for (const [key, inner] of Object.entries(value)) {
    const field = fields[key]
    if (field) yield* within(inner, { type: field.type, description: field.description ?? null, byDefault: field.defaultValue })
  }
}

/** The argument of a root field that a variable is handed to. */
function argumentOf(name: string, { selectionSet }: OperationDefinitionNode, root: GraphQLObjectType): GraphQLArgument | undefined {
  for (const node of selectionSet.selections) {
    if (node.kind !== Kind.FIELD) continue
    const given = node.arguments?.find(({ value }) => value.kind === Kind.VARIABLE && value.name.value === name)
    const field: GraphQLField<unknown, unknown> | undefined = root.getFields()[node.name.value]
    const found = given && field?.args.find(each => each.name === given.name.value)
    if (found) return found
  }
  return undefined
}

/** The operation of a row's document, and its fragments by name. */
export function operationOf({ operation: { definitions } }: OperationRow): {
  readonly operation: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
} {
  const operation = definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION)!
  const fragments = definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
  return { operation, fragments: new Map(fragments.map(node => [node.name.value, node])) }
}

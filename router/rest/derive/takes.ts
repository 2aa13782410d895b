import { type GraphQLArgument, type GraphQLInputField, type GraphQLInputType, isInputObjectType, isNonNullType } from 'graphql'
import type { OperationRoute, RowInput } from '../row.ts'
import { fromJson, fromText } from './coerce.ts'

/** A value in a request, with its type in the graph. */
export interface Taken {
  /** Name of the value in the graph. */
  readonly graphName: string
  readonly type: GraphQLInputType
  readonly description: string | null
  readonly byDefault: unknown
  /** Whether the graph rejects an operation without it. */
  readonly required: boolean
}

/** Input of a route, by the route's own names. */
export interface Takes {
  readonly params: ReadonlyMap<string, Taken>
  readonly query: ReadonlyMap<string, Taken>
  readonly body: ReadonlyMap<string, Taken>
  /** Whether the route accepts or requires an idempotency key; null if neither. */
  readonly idempotencyKey: 'wanted' | 'needed' | null
  readonly takesVersion: boolean
  /** Names of the route that differ in the graph. */
  readonly names: Readonly<Record<string, string>>
  variables(input: RowInput): Record<string, unknown>
}

/** Arguments that a route sets, including those of fields below the root, by the names of their variables. */
export type Arguments = ReadonlyMap<string, GraphQLArgument>

/**
 * Assigns the values of path, query string, headers and body to the types of the arguments.
 * @throws Error for a path parameter that matches no argument, and for a required argument that the route does not set
 */
export function takesOf(route: OperationRoute, args: Arguments, isMutation: boolean): Takes {
  const segments = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const input = args.get('input')
  const inputType = input && openType(input.type)
  const fields = isInputObjectType(inputType) ? Object.values(inputType.getFields()) : []
  const known: readonly (GraphQLArgument | GraphQLInputField)[] = [...[...args.values()].filter(each => each !== input), ...fields]
  const names = Object.fromEntries(Object.entries(route.names ?? {}).filter(([name]) => known.some(each => each.name === name)))
  const omitted = new Set(route.omit)
  const headers = new Set(['idempotencyKey', 'expectedVersion'])

  const params = new Map<string, Taken>()
  const query = new Map<string, Taken>()
  const body = new Map<string, Taken>()
  for (const each of known) {
    const name = names[each.name] ?? each.name
    const taken = takenOf(each)
    if (omitted.has(each.name)) {
      if (taken.required) throw new Error(`the graph needs ${each.name}, and the route omits it`)
    } else if (segments.includes(name)) params.set(name, taken)
    else if (fields.length > 0 && headers.has(each.name)) continue
    // A query that is posted says in its body what it asks about.
    else if (input ? fields.includes(each) && route.input !== 'query' : route.method === 'POST') body.set(name, taken)
    else query.set(name, taken)
  }
  for (const name of segments) if (!params.has(name)) throw new Error(`the parameter ${name} is no argument of ${route.run}: say in names what it is`)
  const keyed = isMutation ? fields.find(({ name }) => name === 'idempotencyKey') : undefined
  const versioned = isMutation && fields.some(({ name }) => name === 'expectedVersion')
  const isOfInput = (taken: Taken): boolean => fields.some(({ name }) => name === taken.graphName)
  return {
    params,
    query,
    body,
    names,
    idempotencyKey: keyed ? (isNonNullType(keyed.type) ? 'needed' : 'wanted') : null,
    takesVersion: versioned,
    variables({ params: inPath, query: inQuery, body: inBody, idempotencyKey, expectedVersion }) {
      const variables: Record<string, unknown> = {}
      const ofInput: Record<string, unknown> = {}
      const put = (taken: Taken, value: unknown) => {
        if (value !== undefined) (isOfInput(taken) ? ofInput : variables)[taken.graphName] = value
      }
      for (const [name, value] of Object.entries(inBody)) {
        const taken = body.get(name)
        if (taken) put(taken, fromJson(value, taken.type))
      }
      for (const [name, taken] of query) put(taken, fromText(inQuery[name], taken.type))
      for (const [name, taken] of params) put(taken, fromText(inPath[name], taken.type))
      // The graph refuses a missing required key, and says what it is for.
      if (keyed) ofInput.idempotencyKey = idempotencyKey ?? (isNonNullType(keyed.type) ? '' : undefined)
      if (versioned) ofInput.expectedVersion = expectedVersion
      return input ? { ...variables, input: given(ofInput) } : variables
    },
  }
}

/** Removes undefined values. */
const given = (values: Readonly<Record<string, unknown>>) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

const openType = (type: GraphQLInputType): GraphQLInputType => (isNonNullType(type) ? type.ofType : type)

const takenOf = ({ name, type, description, defaultValue }: GraphQLArgument | GraphQLInputField): Taken => ({
  graphName: name,
  type,
  description: description ?? null,
  byDefault: defaultValue,
  required: isNonNullType(type) && defaultValue === undefined,
})

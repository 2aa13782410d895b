import { type DocumentNode, type GraphQLObjectType, type GraphQLSchema, Kind, parse } from 'graphql'
import type { OperationRoute, OperationRow } from '../row.ts'
import { type Replying, type RoutePlace, replying } from './reply.ts'
import { createReader, fieldsOf, type Known, type Part } from './selected.ts'
import { type Arguments, type Takes, takesOf } from './takes.ts'

/** A route with everything derived from the graph. */
export interface DerivedRow extends OperationRow {
  /** The route's name in the document: `updateBrand`. */
  readonly name: string
  readonly takes: Takes
  /** What the route answers. */
  readonly answers: Pick<Replying, 'statuses' | 'headers'> & {
    /** Parts of the body; null for a route without one. */
    readonly body: readonly Part[] | null
    /** The type whose record the body is; null for lists. */
    readonly record: GraphQLObjectType | null
    /** Whether a list without pages is answered in the form of a page. */
    readonly counted: boolean
  }
}

/**
 * Derives a route from the graph: its operation, its input, and its answer.
 * @param known cache of selections that were read before
 * @throws Error that says what the route must declare
 */
export function deriveRow(route: OperationRoute, schema: GraphQLSchema, place: RoutePlace, known: Known): DerivedRow {
  const mutation = schema.getMutationType()?.getFields()[route.run]
  const root = mutation ? schema.getMutationType() : schema.getQueryType()
  const field = root?.getFields()[route.run]
  if (!root || !field) throw new Error(`the graph has no root field ${route.run}`)
  const reader = createReader(route.selections, known)
  const isSilent = route.status === 204 || (route.status === undefined && route.method === 'DELETE')
  const node = {
    kind: Kind.FIELD as const,
    name: { kind: Kind.NAME as const, value: route.run },
    arguments: field.args.map(({ name }) => argumentNode(name)),
  }
  const { part, text } = reader.field(node, root, isSilent ? 'id' : route.select)
  const beside = fieldsOf(route.beside ?? '__typename').flatMap(each => (route.beside ? [reader.field(each, root)] : []))
  const name = route.name ?? route.run
  const takes = takesOf(route, reader.variables, mutation !== undefined)
  const body = isSilent
    ? null
    : bodyOf(
        route,
        part,
        beside.map(({ part: other }) => other),
      )
  const record = recordOf(part)
  const { statuses, headers, reply } = replying(route, place, body, record?.name ?? null)
  return {
    ...route,
    name,
    operation: documentOf(mutation ? 'mutation' : 'query', name, reader.variables, [text, ...beside.map(each => each.text)].join(' ')),
    ...((takes.body.size > 0 || route.mayBeEmpty) && { body: [...takes.body.keys()] }),
    ...(takes.query.size > 0 && { query: [...takes.query.keys()] }),
    names: takes.names,
    takes,
    variables: takes.variables,
    answers: { statuses, headers, body, record, counted: part.shape.kind === 'list' && route.counted === true },
    reply,
  }
}

const argumentNode = (name: string) => ({
  kind: Kind.ARGUMENT as const,
  name: { kind: Kind.NAME as const, value: name },
  value: { kind: Kind.VARIABLE as const, name: { kind: Kind.NAME as const, value: name } },
})

function documentOf(operation: string, name: string, variables: Arguments, selection: string): DocumentNode {
  const declared = [...variables].map(([variable, { type }]) => `$${variable}: ${type}`)
  const head = `${operation} Rest${name[0]!.toUpperCase()}${name.slice(1)}${declared.length > 0 ? `(${declared.join(', ')})` : ''}`
  return parse(`${head} { ${selection} }`, { noLocation: true })
}

/** The type whose record an answer is; null for lists. */
function recordOf({ shape }: Part): GraphQLObjectType | null {
  if (shape.kind !== 'object') return null
  const inner = shape.parts.find(({ spread }) => spread)
  return inner ? recordOf(inner) : shape.type
}

/** Returns the parts of a body. A list stands under its name. */
function bodyOf(route: OperationRoute, part: Part, beside: readonly Part[]): readonly Part[] {
  const { shape } = part
  if (shape.kind === 'object') {
    const { status } = route
    const parts = shape.parts.filter(({ name }) => typeof status !== 'object' || name !== status.madeWhen)
    return [{ ...part, shape: { ...shape, parts }, spread: true, required: true }, ...beside]
  }
  const name = route.list ?? camel(route.path.split('/').findLast(step => !step.startsWith(':'))!)
  if (shape.kind === 'page') return [{ ...part, name, spread: true, required: true }, ...beside]
  if (shape.kind !== 'list') throw new Error(`${route.run} answers a value that is neither a record nor a list`)
  return [{ ...part, name, required: true }, ...beside]
}

const camel = (word: string): string => word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

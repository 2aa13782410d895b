import { type GraphQLObjectType, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql'
import { longestKey } from '../../platform/idempotency.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { AccessTable, Requirement } from '../access/rules.ts'
import type { DerivedRow } from '../rest/derive/derive.ts'
import { type DerivedTable, deriveTables } from '../rest/derive/tables.ts'
import { isCounted } from '../rest/identity/public-posts.ts'
import { type Documented, documentedAnswers, type ForwardRow, pathOf, type RouteTable } from '../rest/row.ts'
import { namesOfStatuses, problemSchema, type RefusalName, refusalResponses, refusing } from './problems.ts'
import { retold } from './retold.ts'
import { type Brought, describeAnswer, describeTaken, typeNameOf } from './route.ts'
import { createNamed, type Named, withDescription } from './schema.ts'
import { nobody, securityOf, securitySchemes } from './security.ts'

/** Input of the OpenAPI document. */
export interface OpenapiSources extends Omit<ServedSources, 'tables'> {
  readonly tables: readonly RouteTable[]
}

/** Input of the OpenAPI document, with routes that are derived already. */
export interface ServedSources {
  readonly tables: readonly DerivedTable[]
  /** The clients' schema of the graph. */
  readonly schema: GraphQLSchema
  readonly access: AccessTable
  readonly version: string
  /** Recorded exchanges, by method and path as in the route tables; error examples by the name of their answer. */
  readonly examples: Readonly<Record<string, Example>>
}

/** A recorded request and its answer. */
export interface Example {
  readonly request?: unknown
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

type Json = Record<string, unknown>

/** The parts of the document that are looked at again. */
export interface OpenapiDocument {
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> } & Readonly<Record<string, Json>>
  readonly [key: string]: unknown
}

/** A route that cannot be described. */
export interface Undescribed {
  /** Method and path of the route. */
  readonly at: string
  readonly sentence: string
}

/**
 * Derives routes from a graph and describes them, as `describeRoutes` does; routes that the graph does not support are
 * reported as mistakes.
 */
export function openapiDocument({ tables, ...sources }: OpenapiSources): ReturnType<typeof describeRoutes> {
  const derived = deriveTables(tables, sources.schema)
  const { document, mistakes } = describeRoutes({ tables: derived.tables, ...sources })
  return { document, mistakes: [...derived.mistakes, ...mistakes] }
}

/**
 * Describes REST routes (OpenAPI 3.1, https://spec.openapis.org/oas/v3.1.1): routes that run an operation by the
 * graph's types, forwarded routes by their own description. Paths begin with the prefix of the service.
 */
export function describeRoutes({ tables, schema, access, version, examples }: ServedSources): {
  readonly document: OpenapiDocument
  readonly mistakes: readonly Undescribed[]
} {
  const named = createNamed()
  const paths: Record<string, Record<string, Json>> = {}
  const tags = new Map<string, { readonly name: string }>()
  const ids = new Map<string, string>()
  const mistakes: Undescribed[] = []

  const enter = (at: { readonly slug: Slug; readonly method: string; readonly path: string; readonly everywhere?: true }, make: () => Json) => {
    const whole = pathOf(at.slug, at)
    const path = whole.replaceAll(/:(\w+)/g, '{$1}')
    const place = `${at.method} ${path}`
    try {
      const operation = withExample(make(), examples[`${at.method} ${whole}`])
      const id = String(operation.operationId)
      if (ids.has(id)) throw new Error(`is called ${id} like ${ids.get(id)}: give its operation another name`)
      ids.set(id, place)
      const noun = /^\/api\/(\w[\w-]*)/.exec(at.path)?.[1] ?? 'pages'
      const tag = `${at.slug}/${noun}`
      tags.set(tag, { name: tag })
      paths[path] = { ...paths[path], [at.method.toLowerCase()]: { tags: [tag], ...operation } }
    } catch (error) {
      mistakes.push({ at: place, sentence: error instanceof Error ? error.message : String(error) })
    }
  }
  for (const { slug, rows } of tables)
    for (const row of rows) {
      if (row.kind === 'operation') enter({ slug, ...row }, () => ofOperation(row, schema, access, named))
      else for (const documented of documentedAnswers(row)) enter({ slug, ...placeOf(row, documented) }, () => ofForward(row, documented))
    }

  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Supergraph: REST',
      version,
      summary: 'The REST routes of the platform, each a named operation of its graph or a call that is passed on.',
      description:
        'Records are the graph’s, with enum values in lower case; lists hold `nextCursor`, to be handed back as `after`. A PUT changes what it mentions. Every refusal is `application/problem+json`. On the web hosts of publishing and launcher what stands at `/identity/api/auth/*` is answered at `/api/auth/*` too, with that host’s own cookie; a row of the service itself comes first.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...tags.values()],
    paths,
    components: {
      schemas: { ...sorted(named.all), Problem: problemSchema },
      responses: refusalResponses(examples),
      headers: commonHeaders,
      securitySchemes,
    },
  }
  return { document: retold(document, schema), mistakes }
}

const sorted = <Value>(values: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))

const text = { type: 'string' }

const commonHeaders = {
  ETag: { description: 'The record’s version, or a weak tag of the answer: hand it back in `If-Match` or `If-None-Match`.', schema: text },
  'Idempotent-Replayed': {
    description: '`true` when the `Idempotency-Key` had made the record before: this is the record as it stands now. Absent otherwise.',
    schema: { type: 'string', enum: ['true'] },
  },
  Location: { description: 'Where the record that was made stands.', schema: { type: 'string', format: 'uri-reference' } },
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  schema: text,
  description:
    'The `ETag` that came with the record: the change is refused with 409, reason `STALE_VERSION`, when somebody was faster. Without it the last write wins.',
}
const ifNoneMatch = { name: 'If-None-Match', in: 'header', schema: text, description: 'The `ETag` of an answer that one has: 304 when it still holds.' }
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: longestKey },
  description: 'A text of the caller’s own: the same request with it again makes nothing again. With another body it is 409, reason `KEY_REUSED`.',
}

/** Splits a description of the graph into a summary for lists and the whole text. */
function wordsOf(description: string): Json {
  const whole = description.replaceAll(/\s*\n\s*/g, ' ').trim()
  const first = /^.+?[.;:](?=\s|$)/.exec(whole)?.[0] ?? whole
  const summary = first.replace(/[.;:]$/, '')
  return { summary, ...(whole.length > first.length && { description: whole }) }
}

function ofOperation(row: DerivedRow, schema: GraphQLSchema, access: AccessTable, named: Named): Json {
  const operation = operationOf(row)
  const root = schema.getRootType(operation.operation) as GraphQLObjectType
  const taken = describeTakes(row, named)
  const seen = { ...row.answers, body: describeAnswer(row, named) }
  const fields = operation.selectionSet.selections.flatMap(each => (each.kind === Kind.FIELD ? [each.name.value] : []))
  const ofRow: readonly Requirement[] = row.policy ? [{ id: -1, kind: 'policies', any: [[row.policy]] }] : []
  const requirements = [...ofRow, ...requirementsOf(fields, root, access)]
  const described = root.getFields()[fields[0]!]?.description ?? ''

  const marks = [...(row.method === 'GET' ? ['etag'] : []), ...(taken.idempotencyKey ? ['idempotent-replayed'] : [])]
  const headers = [...new Set([...marks, ...seen.headers])].flatMap(each => headerNames[each] ?? [])
  const success = (status: number) => ({
    description: status === 201 ? 'It is made.' : status === 204 ? 'It is done; there is no body.' : seen.statuses.length > 1 ? 'It was there.' : 'The answer.',
    ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(each => [each, { $ref: `#/components/headers/${each}` }])) }),
    ...(seen.body && { content: { 'application/json': { schema: seen.body } } }),
  })
  return {
    operationId: row.name,
    ...wordsOf(described),
    security: securityOf(requirements),
    ...parametersOf(row, taken),
    ...(row.body && {
      requestBody: { required: !row.mayBeEmpty, content: { 'application/json': { schema: bodySchema(taken, `${typeNameOf(row)}Body`, named) } } },
    }),
    responses: {
      ...Object.fromEntries(seen.statuses.map(status => [status, success(status)])),
      ...(row.method === 'GET' && { 304: { description: 'What `If-None-Match` names still holds.' } }),
      ...refusing(refusalsOf(row, taken, requirements)),
    },
  }
}

/** Input of a route in the form that the document describes. */
interface TakenOnRoute extends Pick<DerivedRow['takes'], 'idempotencyKey' | 'takesVersion'> {
  readonly params: ReadonlyMap<string, Brought>
  readonly query: ReadonlyMap<string, Brought>
  readonly body: ReadonlyMap<string, Brought>
}

const describeTakes = ({ takes }: DerivedRow, named: Named): TakenOnRoute => ({
  ...takes,
  params: describeTaken(takes.params, named, 'text'),
  query: describeTaken(takes.query, named, 'text'),
  body: describeTaken(takes.body, named, 'body'),
})

const operationOf = ({ operation: { definitions } }: DerivedRow): OperationDefinitionNode =>
  definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION)!

/** Adds a recorded request and answer to an operation. */
function withExample(operation: Json, example: Example | undefined): Json {
  if (!example) return operation
  const { requestBody, responses } = operation as Record<string, Record<string, Json>>
  const inside = (content: unknown, value: unknown): Json => {
    const [type, media] = Object.entries(content as Record<string, Json>)[0]!
    return { [type]: { ...media, example: value } }
  }
  const answer = responses?.[example.status]
  return {
    ...operation,
    ...(requestBody && example.request !== undefined && { requestBody: { ...requestBody, content: inside(requestBody.content, example.request) } }),
    ...(answer?.content !== undefined &&
      example.body !== undefined && { responses: { ...responses, [example.status]: { ...answer, content: inside(answer.content, example.body) } } }),
  }
}

const headerNames: Readonly<Record<string, string>> = { etag: 'ETag', location: 'Location', 'idempotent-replayed': 'Idempotent-Replayed' }

/**
 * Returns the access requirements of an operation's root fields: a rejected field further down is null, and the rest is
 * answered.
 */
function requirementsOf(fields: readonly string[], root: GraphQLObjectType, access: AccessTable): readonly Requirement[] {
  const rules = access.fields.get(root.name)
  return fields.flatMap(name => rules?.get(name)?.all ?? [])
}

function parametersOf({ method }: DerivedRow, { params, query, idempotencyKey: key, takesVersion }: TakenOnRoute): Json {
  const parameters = [
    ...[...params].map(([name, { schema }]) => parameter(name, 'path', schema)),
    ...[...query].map(([name, { schema, required }]) => parameter(name, 'query', schema, required)),
    ...(key ? [{ ...idempotencyKey, ...(key === 'needed' && { required: true }) }] : []),
    ...(takesVersion ? [ifMatch] : []),
    ...(method === 'GET' ? [ifNoneMatch] : []),
  ]
  return parameters.length > 0 ? { parameters } : {}
}

/** Describes a parameter; the description of its schema moves to the parameter. */
function parameter(name: string, place: 'path' | 'query', { description, ...schema }: Json, required = place === 'path'): Json {
  // Values of a list in the query string are separated by commas.
  const joined = place === 'query' && schema.type === 'array'
  return { name, in: place, ...(required && { required }), ...(joined && { explode: false }), schema, ...(typeof description === 'string' && { description }) }
}

function bodySchema({ body }: TakenOnRoute, name: string, named: Named): Json {
  const required = [...body].filter(([, each]) => each.required).map(([key]) => key)
  const properties = Object.fromEntries([...body].map(([key, { schema }]) => [key, schema]))
  return named.add(name, { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false })
}

function refusalsOf(row: DerivedRow, taken: TakenOnRoute, requirements: readonly Requirement[]): readonly RefusalName[] {
  const changes = row.method !== 'GET'
  const names: readonly (readonly [RefusalName, boolean])[] = [
    ['BadUserInput', true],
    ['Unauthenticated', true],
    ['Forbidden', requirements.length > 0],
    ['NotFound', changes || taken.params.size + taken.query.size > 0],
    ['Conflict', changes],
    ['PreconditionFailed', true],
    ['TooLarge', row.body !== undefined],
    ['UnsupportedMediaType', row.body !== undefined],
    ['RateLimited', true],
  ]
  return names.flatMap(([name, holds]) => (holds ? [name] : []))
}

/** Returns the path of a forwarded request: its route's path, or one below it. */
function placeOf({ method, path, everywhere }: ForwardRow, { at }: Documented): { readonly method: string; readonly path: string; readonly everywhere?: true } {
  if (!at) return { method, path, ...(everywhere && { everywhere }) }
  const [ownMethod = '', below = ''] = at.split(' ')
  return { method: ownMethod, path: `${path.replace(/\/\*$/, '')}${below}` }
}

function ofForward(row: ForwardRow, documented: Documented): Json {
  const { params = {}, query = {}, body, answers } = documented
  if (row.path.endsWith('/*') !== (documented.at !== undefined))
    throw new Error(`${documented.name} tells where it is (at) when its row ends in /*, and only then`)
  const parameters = [
    ...[...placeOf(row, documented).path.matchAll(/:(\w+)|\{(\w+)\}/g)].map(([, name, below]) =>
      parameter((name ?? below)!, 'path', withDescription(text, params[(name ?? below)!])),
    ),
    ...Object.entries(query).map(([name, description]) => parameter(name, 'query', { ...text, description })),
  ]
  const refused: readonly RefusalName[] = [
    ...(400 in answers ? [] : (['BadUserInput'] as const)),
    ...('public' in row.access ? [] : (['Unauthenticated', 'Forbidden'] as const)),
    ...namesOfStatuses([...(documented.refuses ?? []), ...(isCounted(row, placeOf(row, documented).method) && !(429 in answers) ? [429] : [])]),
    ...(body ? (['TooLarge'] as const) : []),
  ]
  const content = ({ type = 'application/json', schema }: { readonly type?: string; readonly schema: Json }) => ({ [type]: { schema } })
  return {
    operationId: documented.name,
    ...wordsOf(documented.does),
    security: documented.reads
      ? documented.reads.map(scheme => ({ [scheme]: [] }))
      : 'public' in row.access
        ? nobody
        : 'scope' in row.access
          ? securityOf([{ id: -1, kind: 'scopes', any: [[row.access.scope]] }])
          : securityOf([{ id: -1, kind: 'policies', any: [[row.access.policy]] }]),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: content(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          typeof answer === 'string' ? { description: answer } : { description: answer.description, content: content(answer) },
        ]),
      ),
      ...refusing(refused),
    },
  }
}

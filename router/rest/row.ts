import type { DocumentNode } from 'graphql'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { Role } from '../hosts.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Methods of a forwarded route with method `*`. */
export const anyMethod: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** One REST route as a value. Paths are written without the service's prefix: `/api/posts/:id`. */
export type Row = OperationRoute | ForwardRow

/** Fields of a type, as GraphQL text, that routes show of a record. */
export interface Selection {
  readonly fields: string
  /**
   * Paths of values that change without the record's version: `deliveryPhase`, `counts.draft`. They are part of the
   * entity tag beside the version; a list counts by its length.
   */
  readonly changing?: readonly string[]
}

/** Options of a route besides its method, its path and its root field. */
export interface RouteOptions {
  /** The root field of the graph that answers. */
  readonly run: string
  /** Name of the route in generated clients. @default the root field's name */
  readonly name?: string
  /**
   * Fields of the answer as GraphQL text. @default the selection of the answer's type; `id` alone where there is no
   * body
   */
  readonly select?: string
  /** Another root field whose parts are shown beside the answer's: `serviceId: service(slug: "agents") { id }`. */
  readonly beside?: string
  /**
   * Names of arguments, or of fields of the input, that differ in the route: `{ id: 'brandId' }`. @default the noun's
   */
  readonly names?: Readonly<Record<string, string>>
  /** Arguments, or fields of the input, that the route does not accept. */
  readonly omit?: readonly string[]
  /** Source of the input's fields that neither path nor header has. @default the body */
  readonly input?: 'query'
  /**
   * Additional restriction of callers: `service`, for routes between services. @default only the access rules of the
   * operation
   */
  readonly policy?: 'service'
  /** Whether the body may be missing, because all its fields are optional. @default false */
  readonly mayBeEmpty?: true
  /**
   * Status of a successful answer, or the Boolean field that tells whether a record was created, 201, or existed
   * already, 200. @default 201 for `create…`, 204 for DELETE, else 200
   */
  readonly status?: number | { readonly madeWhen: string }
  /** Name of a list in the body. @default the last word of the path */
  readonly list?: string
  /**
   * Whether a list without pages is answered in the form of a page: `nextCursor` is null, and `totalCount` is its
   * length. @default false
   */
  readonly counted?: true
  /**
   * Path of a created record, with values of the answer in it: `/publishing/api/posts?groupId={groupId}`; null for
   * none.
   * @default the path followed by the record's id, if a route reads or changes it
   */
  readonly location?: string | null
  /**
   * Paths of values that are part of the entity tag beside the version; null: the answer has no tag although it has a
   * version. @default as declared with the selection of its type
   */
  readonly changing?: readonly string[] | null
  /** Another audience whose hosts serve the route too. @default none: the hosts of programs alone */
  readonly also?: Role
  /** Whether caches must not store the answer, because it holds a secret that is shown once. @default false */
  readonly noStore?: true
}

/** A route that runs a root field of the graph, as data. Path, query, body and answer follow from the graph. */
export interface OperationRoute extends RouteOptions {
  readonly kind: 'operation'
  readonly method: Method
  readonly path: string
  readonly selections: Readonly<Record<string, Selection>>
}

/** The input that a request brings to a route's operation. */
export interface RowInput {
  readonly params: Readonly<Record<string, string>>
  /** The last value of each query parameter. */
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Value of the header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined
  /**
   * Version named by the header `If-Match`; a version that no record has when the header names none that could match.
   */
  readonly expectedVersion: number | undefined
}

/** Answer of a route. */
export interface RowReply {
  readonly status: number
  /** Headers of the answer, with `etag` (`tagOfVersion`) for a record; other reads get a weak tag of their content. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A route that runs an operation of the graph, as the router serves it: derived from an `OperationRoute`. */
export interface OperationRow extends OperationRoute {
  readonly operation: DocumentNode
  /** Keys that the body may have; others are rejected. Without a list no body is read. */
  readonly body?: readonly string[]
  /** Query parameters of the route; others are rejected. */
  readonly query?: readonly string[]
  /**
   * The route's names of the operation's variables, or of the fields of its `input`, where they differ: `{ id:
   * 'brandId' }`.
   */
  readonly names: Readonly<Record<string, string>>
  variables(input: RowInput): Readonly<Record<string, unknown>>
  /** @returns null when the requested record does not exist (404) */
  reply(data: unknown): RowReply | null
}

/** A schema in JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A body's schema and media type. */
export interface Content {
  /** @default application/json */
  readonly type?: string
  readonly schema: JsonSchema
}

/**
 * Description of a forwarded route's request and answer for the OpenAPI document, because no type of the graph
 * describes them.
 */
export interface Documented {
  /** Name in generated clients: a verb and a noun, unique on the platform, `signIn`. */
  readonly name: string
  /** The route's description for callers; lists show the first sentence. */
  readonly does: string
  /** Method and path below the route's own, if that ends in `/*`: `POST /sign-in/email`. */
  readonly at?: `${Method} /${string}`
  /** Descriptions of path parameters that are not clear from their names. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Content
  /** Credentials that the subgraph reads itself, whatever the route reads: any of them suffices. @default none */
  readonly reads?: readonly ('bearer' | 'cookie')[]
  /** Further error statuses besides those of its route. */
  readonly refuses?: readonly (401 | 403 | 404 | 409 | 429)[]
  /** Successful answers by status; a text where there is no body. */
  readonly answers: Readonly<Record<number, string | (Content & { readonly description: string })>>
}

/** A route that the router forwards unchanged, with the reason why it is not an operation. */
export interface ForwardRow {
  readonly kind: 'forward'
  readonly method: Method | '*'
  /** Path of the route; may end in `/*`. */
  readonly path: string
  /** Whether the path has the same meaning on every host, without a service's prefix. @default false */
  readonly everywhere?: true
  /**
   * Allowed callers: everyone, with the reason, and then credentials are not read, except with `services` those of a
   * calling service; or holders of a scope; or people only.
   */
  readonly access: { readonly public: string; readonly services?: true } | { readonly scope: string } | { readonly policy: 'person' }
  /** Maximum bytes of a body. */
  readonly limit: number
  readonly to: Slug
  /**
   * Hosts that serve the route: those for programs, those for browsers, where cookies are valid, or those of the
   * marketing site. @default `web` for a page, else `api`
   */
  readonly role?: Role
  /**
   * Whether a request's body is forwarded as a stream, at the speed at which it is read, without a time limit. In
   * distributed mode its subgraph lists the path among those that it `streams`. @default the body is read first
   */
  readonly streams?: 'up'
  /** Headers of the answer to OPTIONS without a preflight, besides `Allow`. @default none */
  readonly optionsHeaders?: Readonly<Record<string, string>>
  /**
   * Milliseconds within which the headers of an answer must arrive, if the subgraph is in another process; Infinity for
   * no limit. @default 30000
   */
  readonly timeoutMs?: number
  /**
   * Whether the router's own error answers also contain an `error` in OpenAI's format, for OpenAI's clients. @default
   * problem documents only
   */
  readonly problems?: 'openai'
  /**
   * Whether API keys are also accepted as `Authorization: Bearer sgk_…`, as such clients send them. @default as
   * `X-API-Key` only
   */
  readonly bearerKeys?: true
  /**
   * Paths below a route that ends in `/*` where tokens of the site-builder studio are valid, for answers in JSON only.
   * @default none
   */
  readonly studioAt?: readonly string[]
  readonly why: 'stream' | 'raw body' | 'redirect' | 'foreign handler' | 'page' | 'own answer'
  /**
   * Documentation of the route's request; of each request below a route that ends in `/*`; or the reason why there is
   * none.
   */
  readonly describes: readonly [Documented, ...Documented[]] | { readonly nothing: string }
}

/** Returns the documented requests of a route. */
export const documentedAnswers = ({ describes }: Pick<ForwardRow, 'describes'>): readonly Documented[] => ('nothing' in describes ? [] : describes)

/** Returns the full path of a route: below the service's prefix, unless the route is served everywhere. */
export const pathOf = (slug: Slug, row: Pick<Row, 'path'> & { readonly everywhere?: true }): string => (row.everywhere ? row.path : `/${slug}${row.path}`)

/** The routes of one service. */
export interface RouteTable {
  readonly slug: Slug
  readonly rows: readonly Row[]
}

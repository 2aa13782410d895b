import type { DocumentNode } from 'graphql'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { Role } from '../hosts.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a forward row of the method `*` takes. */
export const anyMethod: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** One REST route as a value. Paths are written without the service's prefix: `/api/posts/:id`. */
export type Row = OperationRoute | ForwardRow

/** Fields of a type as text of GraphQL, which routes show of a record of it. */
export interface Selection {
  readonly fields: string
  /**
   * Where the answer shows what changes without the record's version: `deliveryPhase`, `counts.draft`. It stands in the entity tag beside
   * the version; a list by its length.
   */
  readonly changing?: readonly string[]
}

/** What one route says of itself beyond its method, its path and the root field that it runs. */
export interface RouteOptions {
  /** The root field of the graph that answers. */
  readonly run: string
  /** What generated clients call the route. @default the root field's name */
  readonly name?: string
  /** Fields of the answer as text of GraphQL. @default the selection of the answer's type; `id` alone where there is no body */
  readonly select?: string
  /** Another root field whose parts are shown beside those of the answer: `serviceId: service(slug: "agents") { id }`. */
  readonly beside?: string
  /** What arguments, or fields of the input, are called here where the names differ: `{ id: 'brandId' }`. @default the noun's */
  readonly names?: Readonly<Record<string, string>>
  /** Arguments, or fields of the input, that the route does not take. */
  readonly omit?: readonly string[]
  /** Where the fields of the input are read that neither path nor header has. @default the body */
  readonly input?: 'query'
  /** Who alone may call beside what the operation takes: `service`, for routes between services. @default the access rules of the operation */
  readonly policy?: 'service'
  /** Whether a body may be missing: nothing in it is needed. @default false */
  readonly mayBeEmpty?: true
  /** A status, or the Boolean of the graph's answer that says whether something was made, 201, or stood there already, 200. @default 201 for `create…`, 204 for DELETE, else 200 */
  readonly status?: number | { readonly madeWhen: string }
  /** What the body calls a list. @default the last word of the path */
  readonly list?: string
  /** Whether a list that is no page has the form of one: `nextCursor` is null, and `totalCount` is its length. @default false */
  readonly counted?: true
  /**
   * Where a record that was made is found, with values of the answer in it: `/publishing/api/posts?groupId={groupId}`; null: nowhere.
   * @default the path with the record's id behind it, where a route reads or changes it
   */
  readonly location?: string | null
  /** What stands in the entity tag beside the version; null: the answer has no tag although it has a version. @default as the selection of its type says */
  readonly changing?: readonly string[] | null
  /** Whether nobody may keep the answer: it holds a secret that no other shows. @default false */
  readonly noStore?: true
}

/** A route that runs a root field of the graph, as data. Path, query, body and answer follow from the graph. */
export interface OperationRoute extends RouteOptions {
  readonly kind: 'operation'
  readonly method: Method
  readonly path: string
  readonly selections: Readonly<Record<string, Selection>>
}

/** What a request brings to a route's operation. */
export interface RowInput {
  readonly params: Readonly<Record<string, string>>
  /** The last value of each query parameter. */
  readonly query: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** Header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined
  /** The version that header `If-Match` names; one that no record has when it names none that could match. */
  readonly expectedVersion: number | undefined
}

/** What a route answers. */
export interface RowReply {
  readonly status: number
  /** With `etag` (`tagOfVersion`) for a record; what is read without one gets a weak one of its content. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A route that runs an operation of the graph, as the router serves it: derived from an `OperationRoute`. */
export interface OperationRow extends OperationRoute {
  readonly operation: DocumentNode
  /** Keys that the body may have; anything else is refused, and no body is read when there is no list. */
  readonly body?: readonly string[]
  /** Query parameters that the route knows; anything else is refused. */
  readonly query?: readonly string[]
  /** What the operation's variables, or the fields of its `input`, are called here, where the names differ: `{ id: 'brandId' }`. */
  readonly names: Readonly<Record<string, string>>
  variables(input: RowInput): Readonly<Record<string, unknown>>
  /**
   * @returns null when what was asked for does not exist (404)
   */
  reply(data: unknown): RowReply | null
}

/** A schema in JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A body, and its media type. */
export interface Content {
  /** @default application/json */
  readonly type?: string
  readonly schema: JsonSchema
}

/** What a forwarded exchange takes and answers, which no type of the graph says: for the OpenAPI document. */
export interface Documented {
  /** What generated clients call it: a verb and a noun, unlike any other of the platform's, `signIn`. */
  readonly name: string
  /** The route's description for callers; lists show the first sentence. */
  readonly does: string
  /** Method and path below the row's, where that ends in `/*`: `POST /sign-in/email`. */
  readonly at?: `${Method} /${string}`
  /** What the parts of the path that vary are, where their names do not say it. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Content
  /** Credentials that it reads by itself, whatever its row reads: any of them will do. @default none */
  readonly reads?: readonly ('bearer' | 'cookie')[]
  /** Statuses with which it refuses, beside those that its row may answer. */
  readonly refuses?: readonly (401 | 403 | 404 | 409 | 429)[]
  /** By status, what is answered when nothing is refused; a text where there is no body. */
  readonly answers: Readonly<Record<number, string | (Content & { readonly description: string })>>
}

/** A route that the router forwards untouched, and why it cannot be an operation. */
export interface ForwardRow {
  readonly kind: 'forward'
  readonly method: Method | '*'
  /** May end in `/*`. */
  readonly path: string
  /** Whether the path is whole, and means the same on every host: no service's prefix stands before it. @default false */
  readonly everywhere?: true
  /**
   * Who may call: everybody, with the reason, and then credentials are never read, but with `services` those of a service that sends
   * them; or holders of a scope; or people themselves.
   */
  readonly access: { readonly public: string; readonly services?: true } | { readonly scope: string } | { readonly policy: 'person' }
  /** Bytes of a body at most. */
  readonly limit: number
  readonly to: Slug
  /** On which hosts it answers: those for programs, or those for browsers, where cookies count. @default `web` for a page, else `api` */
  readonly role?: Role
  /**
   * Whether a request's body passes as it comes, at the speed at which it is taken, and is never held whole; it may take as long as it likes.
   * Apart, its subgraph names the path among those that it `streams`. @default it is read first
   */
  readonly streams?: 'up'
  /** Headers with which OPTIONS is answered, where that is no preflight, beside `Allow`. @default none */
  readonly tellsOptions?: Readonly<Record<string, string>>
  /** Milliseconds until the headers of an answer must be there, where the subgraph runs apart; Infinity: as long as it takes. @default 30000 */
  readonly patienceMs?: number
  /** Whether what the door itself refuses has an `error` in the form of OpenAI's besides, which that one's clients read. @default problems alone */
  readonly problems?: 'openai'
  /** Whether API keys count as `Authorization: Bearer sgk_…` too, as such clients send them. @default as `X-API-Key` alone */
  readonly bearerKeys?: true
  /** Below a row that ends in `/*`: where tokens of the site-builder studio count, and there only for answers in JSON. @default nowhere */
  readonly studioAt?: readonly string[]
  readonly why: 'stream' | 'raw body' | 'redirect' | 'foreign handler' | 'page' | 'own answer'
  /** One exchange; of a row that ends in `/*`, each that there is; or why no document is to tell of it. */
  readonly tells: readonly [Documented, ...Documented[]] | { readonly nothing: string }
}

/** The exchanges of a row that documents tell of. */
export const toldOf = ({ tells }: Pick<ForwardRow, 'tells'>): readonly Documented[] => ('nothing' in tells ? [] : tells)

/** Where a row is found: below the service's prefix, unless it is found everywhere. */
export const pathOf = (slug: Slug, row: Pick<Row, 'path'> & { readonly everywhere?: true }): string => (row.everywhere ? row.path : `/${slug}${row.path}`)

/** The routes of one service. */
export interface RouteTable {
  readonly slug: Slug
  readonly rows: readonly Row[]
}

import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../platform/cipher.ts'
import type { Usage } from '../../../platform/limit.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { json, moment, type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import { type Rows, store } from '../../store/store.ts'
import type { Json, Risk } from './workflow.ts'

export type ConnectorKind = 'MCP' | 'MOBILE_APP_CATALOGUE' | 'PLATFORM'
export type ConnectorStatus = 'UNTESTED' | 'HEALTHY' | 'FAILING' | 'DISABLED'
export type ToolPermission = 'AUTO' | 'ASK' | 'DENY'

/** A tool as its connector described it at the last check, and what the organization allows. */
export interface ToolRow {
  readonly name: string
  readonly title: string | null
  readonly description: string | null
  /** JSON Schema of its arguments. */
  readonly inputSchema: Json
  readonly permission: ToolPermission
  readonly risk: Risk
  readonly readOnly: boolean
  /** Whether calling it twice under one key has one effect. */
  readonly idempotent: boolean
}

export const connectors = table('agents.connectors', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  kind: text.of<ConnectorKind>(),
  counterparty: text.maybe,
  baseUrl: text.maybe,
  headers: text.maybe,
  status: text.of<ConnectorStatus>().or('UNTESTED'),
  message: text.maybe,
  checkedAt: moment.maybe,
  tools: json.of<readonly ToolRow[]>().or([]),
  ...stamps,
})

export type ConnectorRow = Row<typeof connectors>

/** A header that every call to a connector carries. */
export interface SecretHeader {
  readonly name: string
  readonly value: string
}

const placeOfHeaders = (id: string) => `agents.connector:${id}:headers`

/** The headers of connectors as they are stored. */
export const sealedConnectorHeaders: readonly SealedColumn[] = [{ table: connectors.name, key: 'id', column: 'headers', about: placeOfHeaders }]

/** Encrypts the headers of a connector; null for none. */
export const sealHeaders = (cipher: Cipher, id: string, headers: readonly SecretHeader[]): string | null =>
  headers.length === 0 ? null : cipher.seal(JSON.stringify(headers), placeOfHeaders(id))

/** Decrypts the headers of a connector, for calls, never for an answer. @throws when they were encrypted with an unknown key */
export const openHeaders = (cipher: Cipher, { id, headers }: Pick<ConnectorRow, 'id' | 'headers'>): readonly SecretHeader[] =>
  headers === null ? [] : (JSON.parse(cipher.open(headers, placeOfHeaders(id))) as SecretHeader[])

/** What a step needs to know of the tool that it calls. */
export interface CallableTool extends Pick<ToolRow, 'name' | 'permission' | 'risk' | 'readOnly' | 'idempotent'> {
  readonly connectorId: string
  readonly counterparty: string | null
}

const lockMaking = transactionLock('agents.connectors')
const countOf = statement(`select count(*)::int as "inAll" from agents.connectors where organization_id = $1 and kind = 'MCP'`)
const ensure = statement(
  `insert into agents.connectors (id, organization_id, name, kind, status, checked_at, tools, created_at, updated_at, created_by)
   values ($1, $2, $3, $4, $5, $6, $7::jsonb, $6, $6, 'system') on conflict do nothing`,
)
const callable = statement(
  `select c.id as "connectorId", c.counterparty, t->>'name' as name, t->>'permission' as permission, t->>'risk' as risk,
     (t->>'readOnly')::boolean as "readOnly", (t->>'idempotent')::boolean as idempotent
   from agents.connectors c cross join lateral jsonb_array_elements(c.tools) t
   where c.id = any($1::uuid[]) and c.organization_id = $2 and c.status <> 'DISABLED' and t->>'name' = any($3::text[])`,
)

const crossing = statement('select 1 from agents.connectors where id = any($1::uuid[]) and organization_id = $2 and counterparty is not null limit 1')

const connectorSql = (rows: Rows<typeof connectors>) => ({
  /** How many an organization has made. Nobody makes another for it before the transaction ends. */
  async madeFor(organizationId: string, transaction: Transaction): Promise<Usage> {
    await rows.read(lockMaking, [organizationId], transaction)
    const [made] = await rows.read<{ inAll: number }>(countOf, [organizationId], transaction)
    return { inAll: made!.inAll, today: 0, todaySince: null }
  },

  /** Makes a connector that every organization has once, unless it is there. */
  async ensure(
    { id, organizationId, name, kind, status, tools }: Pick<ConnectorRow, 'id' | 'organizationId' | 'name' | 'kind' | 'status' | 'tools'>,
    now: Date,
    transaction: Transaction,
  ): Promise<void> {
    await rows.read(ensure, [id, organizationId, name, kind, status, now, JSON.stringify(tools)], transaction)
  },

  /** Whether one of an organization's connectors belongs to a counterparty. */
  async cross(ids: readonly string[], organizationId: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read(crossing, [ids, organizationId], transaction)).length > 0
  },

  /** The tools with these names of an organization's connectors that are in use. */
  callable: (ids: readonly string[], names: readonly string[], organizationId: string, transaction: Transaction): Promise<CallableTool[]> =>
    rows.read<CallableTool>(callable, [ids, organizationId, names], transaction),
})

export const connectorStore = store(
  connectors,
  { what: 'connector', tenancy: { by: 'organizationId' }, manyBy: { organizationId: 't.created_at, t.id' } },
  connectorSql,
)

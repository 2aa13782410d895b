import { DomainError } from '../../../../platform/errors.ts'
import { readText } from '../../../../platform/ids.ts'
import type { ConnectorHeaderInput, ConnectorToolInput } from '../../resolvers.generated.ts'
import type { ConnectorKind, ConnectorRow, SecretHeader, ToolRow } from '../../stores/connector.ts'

/** What an organization and a connector may have at most. */
export const limits = {
  connectors: 50,
  /** With those that each organization has. */
  shown: 52,
  tools: 100,
  headers: 20,
  name: 200,
  counterparty: 200,
  address: 2_000,
  headerValue: 4_000,
} as const

const wrong = (field: string, message: string): DomainError => new DomainError('BAD_USER_INPUT', `${field} ${message}`, { field })

/** Requires a kind that people may create. @throws BAD_USER_INPUT for one that each organization has */
export function requireCreatable(kind: ConnectorKind): void {
  if (kind !== 'MCP') throw wrong('kind', `${kind} is there for every organization by itself: create one of kind MCP.`)
}

/** Requires that a connector is not one that each organization has. @throws CONFLICT */
export function requireRemovable({ kind }: Pick<ConnectorRow, 'kind'>): void {
  if (kind !== 'MCP') throw new DomainError('CONFLICT', 'Every organization has this connector: take it out of use instead.', { reason: 'ILLEGAL_MOVE' })
}

/** Requires that our own platform keeps its name, its use and its owner: only what its tools may do is changed. @throws CONFLICT */
export function requireOwnTools(
  { kind }: Pick<ConnectorRow, 'kind'>,
  { name, active, counterparty }: Partial<Record<'name' | 'active' | 'counterparty', unknown>>,
): void {
  if (kind === 'PLATFORM' && [name, active, counterparty].some(given => given !== undefined))
    throw new DomainError('CONFLICT', 'This platform is always in use, under its own name: only the permissions of its tools can be changed.', {
      reason: 'ILLEGAL_MOVE',
    })
}

/** Requires that a connector is in use. @throws CONFLICT, reason ILLEGAL_MOVE */
export function requireInUse({ status: from }: Pick<ConnectorRow, 'status'>, verb: 'check'): void {
  if (from === 'DISABLED')
    throw new DomainError('CONFLICT', 'A connector that is out of use is not called: put it back into use first.', {
      ...{ reason: 'ILLEGAL_MOVE', from, verb, possible: [] },
    })
}

/** Reads the address of a server. @throws BAD_USER_INPUT; whether it is public is checked by whoever can look it up */
export function readAddress(given: string | null | undefined): URL {
  const text = given?.trim() ?? ''
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || text.length > limits.address)
    throw wrong('baseUrl', `must be an address of HTTP with at most ${limits.address} characters, such as https://tools.example.com/mcp.`)
  if (url.username || url.password) throw wrong('baseUrl', 'must not hold a password: send it as a header, whose value is encrypted.')
  url.hash = ''
  return url
}

/** Reads whose a connector is; null for ours. @throws BAD_USER_INPUT */
export function readCounterparty(given: string | null | undefined, field: string): string | null {
  const text = readText(given, field, limits.counterparty)
  if (text !== null && !/^[\x21-\x7e]+$/.test(text)) throw wrong(field, 'takes letters, digits and signs of ASCII, without spaces.')
  return text
}

/** Headers that belong to the connection, to the protocol or to us. */
const ours =
  /^(?:x-service-id|x-app-id|x-organization-id|mcp-.*|host|accept|accept-encoding|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|user-agent|cookie)$/i

/** Reads the headers that every call carries. @throws BAD_USER_INPUT with a field such as `headers[0].name` */
export function readHeaders(given: readonly ConnectorHeaderInput[] | null | undefined): readonly SecretHeader[] {
  const headers = given ?? []
  if (headers.length > limits.headers) throw wrong('headers', `has ${headers.length} entries: the maximum is ${limits.headers}.`)
  const names = headers.map(({ name }) => name.toLowerCase())
  return headers.map(({ name, value }, at) => {
    if (!/^[!#$%&'*+.^_`|~\dA-Za-z-]{1,100}$/.test(name)) throw wrong(`headers[${at}].name`, 'is no name of a header.')
    if (ours.test(name)) throw wrong(`headers[${at}].name`, `is ${name}, which the platform sets itself.`)
    if (names.indexOf(name.toLowerCase()) !== at) throw wrong(`headers[${at}].name`, `is ${name}, which is there before.`)
    if (!/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) || value.length > limits.headerValue)
      throw wrong(`headers[${at}].value`, `takes 1 to ${limits.headerValue} characters of ASCII on one line.`)
    return { name, value }
  })
}

/** Changes what tools may do. @throws BAD_USER_INPUT with a field such as `tools[0].name` for a tool that is not there */
export function changeTools(tools: readonly ToolRow[], given: readonly ConnectorToolInput[]): readonly ToolRow[] {
  const missing = given.findIndex(({ name }) => !tools.some(tool => tool.name === name))
  if (missing >= 0) throw wrong(`tools[${missing}].name`, `is ${given[missing]!.name}, which is no tool of this connector: check it to read its tools anew.`)
  return tools.map(tool => {
    const change = given.findLast(({ name }) => name === tool.name)
    return { ...tool, permission: change?.permission ?? tool.permission, risk: change?.risk ?? tool.risk }
  })
}

import { createHash } from 'node:crypto'
import type { Json } from '../../stores/workflow.ts'

/**
 * Writes a value in the canonical form of RFC 8785: names sorted by UTF-16 code units, no white space, numbers as ECMAScript writes them.
 */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value as Readonly<Record<string, Json>>).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`
}

/** SHA-256 of the canonical form, as `sha256:` and lower-case hex. */
export const hashOfJson = (value: Json): string => `sha256:${createHash('sha256').update(canonical(value)).digest('hex')}`

/** What an approval or a policy decision is bound to. */
export interface Action {
  readonly connectorId: string | null
  readonly tool: string | null
  readonly counterparty: string | null
  readonly arguments: Json
}

/** The hash that binds a decision to exactly this action. */
export const hashOfAction = ({ connectorId, tool, counterparty, arguments: given }: Action): string =>
  hashOfJson({ arguments: given, connectorId, counterparty, tool })

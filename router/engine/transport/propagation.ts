import { browserHeader } from '../../../subgraphs/http/browser.ts'
import { sealHeader } from '../../../subgraphs/seal.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'

/** Passes one header of the client's request to subgraphs. */
export interface HeaderRule {
  /** Name of the header in lower case. */
  readonly name: string
  /** Names of the subgraphs that receive the header. @default all of them */
  readonly to?: readonly string[]
}

/**
 * Headers that no rule passes: those of one connection or one body (RFC 9110 §7.6.1, RFC 9112), and those that the
 * router sets itself.
 */
const never = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'content-length',
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
  'content-range',
  'accept',
  'accept-encoding',
  'x-request-id',
  sealHeader,
  browserHeader,
])

/** Returns the headers that pass to one subgraph. @throws for a rule about a header that never passes */
export function passingTo(subgraph: string, rules: readonly HeaderRule[]): readonly string[] {
  for (const { name } of rules) {
    if (never.has(name) || name.startsWith('sec-websocket-')) throw new Error(`The header ${name} belongs to one connection and cannot pass to subgraphs`)
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw new Error(`"${name}" is not the name of a header in lower case`)
  }
  return [...new Set(rules.filter(({ to }) => !to || to.includes(subgraph)).map(({ name }) => name))]
}

/**
 * Returns names and values, alternating, of the client's headers to pass on, without those that the client declared as
 * belonging to its connection.
 */
export function passedHeaders(names: readonly string[], incoming: Headers | undefined): string[] {
  const passed: string[] = []
  if (!incoming) return passed
  const own = incoming
    .get('connection')
    ?.toLowerCase()
    .split(/[\s,]+/)
  for (const name of names) {
    const value = incoming.get(name)
    if (value !== null && !own?.includes(name)) passed.push(name, value)
  }
  return passed
}

/** Returns the parts of a viewer that an answer may depend on, as text. */
export const viewerKey = (viewer: Viewer): string => JSON.stringify(viewer)

import type { Naming } from '../documents/sources.ts'

/** A parsed request. Parts that cannot be read are left to Apollo Server, which reports the mistakes. */
export interface AskedOverHttp {
  readonly naming: Naming
  /** Name of the operation to run; undefined where the request has none, or something other than a name. */
  readonly operationName: string | undefined
  /** Variables as sent; undefined when there are none or they cannot be read. */
  readonly variables: unknown
  readonly sent: Sent
}

/** The parts of a request that Apollo Server reads. */
export interface Sent {
  readonly body: unknown
  /** Query string with its question mark; empty for a POST, whose query string is ignored. */
  readonly search: string
}

/** Reads a GET from its address and a POST from its JSON body. */
export function readAsked({ method, url, body }: { readonly method: string; readonly url: string; readonly body: unknown }): AskedOverHttp {
  if (method !== 'GET') {
    const members = (body ?? {}) as Readonly<Record<string, unknown>>
    return { naming: members, operationName: textOf(members.operationName), variables: members.variables, sent: { body, search: '' } }
  }
  const { search, searchParams } = new URL(url, 'http://door')
  const [query, documentId] = [searchParams.get('query'), searchParams.get('documentId')]
  return {
    naming: { query, documentId, extensions: jsonOf(searchParams.get('extensions')) },
    operationName: textOf(searchParams.get('operationName')),
    variables: jsonOf(searchParams.get('variables')),
    sent: { body, search },
  }
}

/** Rewrites a request that named its document by id or hash to one that contains the document's text. */
export function withText({ naming: { query, documentId, extensions }, sent }: AskedOverHttp, text: string): Sent {
  const { persistedQuery, ...others } = (extensions as Record<string, unknown> | null | undefined) ?? {}
  if (query === text && persistedQuery === undefined && (documentId ?? null) === null) return sent
  const left = Object.keys(others).length > 0 ? others : undefined
  if (sent.search === '') {
    const { documentId: _named, extensions: _all, ...rest } = sent.body as Record<string, unknown>
    return { ...sent, body: { ...rest, query: text, ...(left && { extensions: left }) } }
  }
  const parameters = new URLSearchParams(sent.search)
  parameters.set('query', text)
  parameters.delete('extensions')
  if (left) parameters.set('extensions', JSON.stringify(left))
  return { ...sent, search: `?${parameters}` }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null') as unknown
  } catch {
    return undefined
  }
}

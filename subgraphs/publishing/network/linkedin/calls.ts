import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer, OutboundOptions } from '../../../../platform/outbound/outbound.ts'
import { AccessExpired } from '../network.ts'
import type { RefusalReason, Unsent } from '../publication.ts'
import { readJson } from '../wire/json.ts'

/** LinkedIn's error format: https://learn.microsoft.com/linkedin/shared/api-guide/concepts/error-handling */
interface Problem {
  readonly message: string
  readonly code: string
}

/** A refusal by LinkedIn. */
export interface No {
  readonly outcome: 'refused'
  readonly code: RefusalReason
  readonly detail: string
}

/** Calls of the versioned interface: https://learn.microsoft.com/linkedin/marketing/versioning */
export function createCalls({ apiUrl, version }: { readonly apiUrl: string; readonly version: string }, outbound: Outbound) {
  const headersOf = (accessToken: string) => ({
    authorization: `Bearer ${accessToken}`,
    'linkedin-version': version,
    'x-restli-protocol-version': '2.0.0',
  })

  /** @param path path below the API's address, with the query */
  const call = (accessToken: string, path: string, { headers, ...options }: OutboundOptions = {}): Promise<OutboundAnswer> =>
    outbound(`${apiUrl}${path}`, { ...options, headers: { ...headersOf(accessToken), ...headers } })

  const post = (accessToken: string, path: string, body: object, options: OutboundOptions = {}): Promise<OutboundAnswer> =>
    call(accessToken, path, { ...options, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  return {
    headersOf,
    call,
    post,
    /** Reads a required resource. @throws AccessExpired, and any other error when LinkedIn does not answer properly */
    async read<Shape extends object>(accessToken: string, path: string, options?: OutboundOptions): Promise<Partial<Shape>> {
      const answer = await call(accessToken, path, options)
      if (answer.status === 401) throw new AccessExpired('LinkedIn')
      if (answer.status !== 200) throw new Error(`LinkedIn did not answer ${path.split('?')[0]}: ${answer.status}`)
      return readJson<Shape>(answer.text)
    },
  }
}

export type Calls = ReturnType<typeof createCalls>

/** Returns LinkedIn's error message. */
export const saidBy = (answer: OutboundAnswer): string => {
  const { message, code } = readJson<Problem>(answer.text)
  return (message ?? code ?? `status ${answer.status}`).slice(0, 300)
}

/** Returns LinkedIn's clear refusal; null when the answer leaves open whether the call had an effect. */
export function refusalOf(answer: OutboundAnswer): No | null {
  const { status } = answer
  const said = saidBy(answer)
  const refused = (code: RefusalReason, detail = said): No => ({ outcome: 'refused', code, detail })
  if (status === 401) return refused('ACCESS_EXPIRED')
  if (status === 429) return refused('RATE_LIMITED')
  if (status === 426) return refused('NETWORK_REFUSED', `${said} (LINKEDIN_VERSION)`)
  if ((status === 422 || status === 409) && /duplicate/i.test(said)) return refused('DUPLICATE_CONTENT')
  if (status === 400 || status === 413 || status === 422) return refused('CONTENT_REFUSED')
  if (status >= 400 && status < 500 && status !== 408) return refused('NETWORK_REFUSED')
  return null
}

/** Returns the error of a call that certainly was not sent; null when it may have been sent. */
export const unsentOf = (error: unknown): Unsent | null =>
  error instanceof OutboundFailure && !error.sent ? { outcome: 'unsent', detail: error.message } : null

/**
 * Encodes several keys as the API expects them: `List(urn%3Ali%3Ashare%3A1,…)`
 * (https://learn.microsoft.com/linkedin/shared/api-guide/concepts/methods).
 */
export const listOf = (urns: readonly string[]): string => `List(${urns.map(encodeURIComponent).join(',')})`

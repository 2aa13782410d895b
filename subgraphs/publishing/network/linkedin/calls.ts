import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer, OutboundOptions } from '../../../../platform/outbound/outbound.ts'
import { readJson } from '../json.ts'
import { AccessExpired, type RefusalReason, type Unsent } from '../network.ts'

/** An error as LinkedIn writes it: https://learn.microsoft.com/linkedin/shared/api-guide/concepts/error-handling */
interface Problem {
  readonly message: string
  readonly code: string
}

/** What LinkedIn said no to. */
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

  /** @param path below the address of the interface, with what is asked */
  const call = (accessToken: string, path: string, { headers, ...options }: OutboundOptions = {}): Promise<OutboundAnswer> =>
    outbound(`${apiUrl}${path}`, { ...options, headers: { ...headersOf(accessToken), ...headers } })

  const post = (accessToken: string, path: string, body: object, options: OutboundOptions = {}): Promise<OutboundAnswer> =>
    call(accessToken, path, { ...options, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  return {
    headersOf,
    call,
    post,
    /** Reads what must be there. @throws AccessExpired, and any other error when LinkedIn does not tell */
    async read<Shape extends object>(accessToken: string, path: string, options?: OutboundOptions): Promise<Partial<Shape>> {
      const answer = await call(accessToken, path, options)
      if (answer.status === 401) throw new AccessExpired('LinkedIn')
      if (answer.status !== 200) throw new Error(`LinkedIn did not answer ${path.split('?')[0]}: ${answer.status}`)
      return readJson<Shape>(answer.text)
    },
  }
}

export type Calls = ReturnType<typeof createCalls>

/** What LinkedIn says, in its own words. */
export const saidBy = (answer: OutboundAnswer): string => {
  const { message, code } = readJson<Problem>(answer.text)
  return (message ?? code ?? `status ${answer.status}`).slice(0, 300)
}

/** A clear no of LinkedIn; null: its answer leaves open what was done. */
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

/** A call of which surely nothing was sent; null: it may have been. */
export const unsentOf = (error: unknown): Unsent | null =>
  error instanceof OutboundFailure && !error.sent ? { outcome: 'unsent', detail: error.message } : null

/** Keys as the interface takes several: `List(urn%3Ali%3Ashare%3A1,…)` (https://learn.microsoft.com/linkedin/shared/api-guide/concepts/methods). */
export const listOf = (urns: readonly string[]): string => `List(${urns.map(encodeURIComponent).join(',')})`

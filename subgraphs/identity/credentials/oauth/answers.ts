import { codeOf } from '../../../../platform/errors.ts'
import type { Handler } from '../../../http/handlers.ts'
import { htmlPage, type Sentence } from '../../../http/html.ts'

/** Error codes of the RFCs: RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, OpenID Connect Core §3.1.2.6. */
export type FaultName =
  | 'access_denied'
  | 'consent_required'
  | 'insufficient_scope'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_token'
  | 'login_required'
  | 'registration_not_supported'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** Error of an OAuth endpoint. It says what was wrong, without repeating what was sent. */
export interface Fault {
  readonly fault: FaultName
  readonly description: string
  readonly status: number
  /** `WWW-Authenticate` header of a 401. */
  readonly challenge?: string
}

export const fault = (name: FaultName, description: string, status = 400, challenge?: string): Fault => ({
  fault: name,
  description,
  status,
  ...(challenge !== undefined && { challenge }),
})

export const isFault = (value: object): value is Fault => 'fault' in value

/** Creates an error to throw before anything was written. */
export const thrown = (value: Fault): Error & { readonly refused: Fault } => Object.assign(new Error(value.description), { refused: value })

/** Headers against caching: every answer may contain a token, or identify a person. */
const unkept = { 'cache-control': 'no-store', pragma: 'no-cache', 'referrer-policy': 'no-referrer' } as const

export const jsonAnswer = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json(body, { status, headers: { ...unkept, ...headers } })

export const faulted = ({ fault: error, description, status, challenge }: Fault): Response =>
  jsonAnswer({ error, error_description: description }, status, challenge === undefined ? {} : { 'www-authenticate': challenge })

export const ledTo = (location: string): Response => new Response(null, { status: 302, headers: { location, ...unkept } })

/** Page for an authorization request that must not redirect. */
export const deadEnd = (status: number, title: string, sentence: Sentence): Response => htmlPage(status, title, sentence)

/**
 * Wraps an endpoint for programs, whose errors have the RFCs' format. A browser that sends a cookie must have come from
 * a page of ours.
 */
export const protocol =
  (trusts: (origin: string) => boolean, exchange: Handler): Handler =>
  async (request, viewer) => {
    try {
      const origin = request.headers.get('origin')
      if (request.method === 'POST' && request.headers.has('cookie') && !(origin !== null && trusts(origin)))
        return faulted(fault('invalid_request', 'A request with a cookie must come from a page that the platform trusts: send none.', 403))
      return await exchange(request, viewer)
    } catch (error) {
      if (typeof error === 'object' && error !== null && 'refused' in error) return faulted(error.refused as Fault)
      if (codeOf(error) === 'BAD_USER_INPUT') return faulted(fault('invalid_request', (error as Error).message))
      throw error
    }
  }

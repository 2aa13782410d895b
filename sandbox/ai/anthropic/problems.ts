import type { ArmedFault, Reply } from '../../network.ts'
import { json } from '../../network.ts'

// The shape in which Anthropic refuses: https://docs.anthropic.com/en/api/errors

/** Builds an error answer `{ type: 'error', error: { type, message }, request_id }`. */
export function refuse(status: number, type: string, message: string, requestId: string, headers: Record<string, string> = {}): Reply {
  return { ...json(status, { type: 'error', error: { type, message }, request_id: requestId }, 'refused', headers), reason: type }
}

const types: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'messages: the sandbox was told to refuse this'],
  401: ['authentication_error', 'invalid x-api-key'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'model: not found'],
  413: ['request_too_large', 'Request exceeds the maximum allowed number of bytes.'],
  429: ['rate_limit_error', "This request would exceed your organization's rate limit of 50 requests per minute."],
  504: ['timeout_error', 'The request timed out while processing.'],
  529: ['overloaded_error', 'Overloaded'],
}

/** Returns the refusal that an armed fault causes. */
export function byFault({ status, resetSeconds, code }: ArmedFault & { readonly status: number }, requestId: string): Reply {
  if (code === 'insufficient_quota')
    return refuse(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.', requestId)
  const [type, message] =
    types[status] ?? (status < 500 ? ['invalid_request_error', 'The sandbox was told to refuse this.'] : ['api_error', 'Internal server error'])
  return refuse(status, type, message, requestId, status === 429 && resetSeconds !== undefined ? { 'retry-after': String(resetSeconds) } : {})
}

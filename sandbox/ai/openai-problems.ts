import type { ArmedFault, Reply } from '../network.ts'
import { json } from '../network.ts'

// The shape in which OpenAI refuses: https://platform.openai.com/docs/guides/error-codes

/** Builds an error answer `{ error: { message, type, param, code } }`. */
export function refuse(
  status: number,
  message: string,
  { type = 'invalid_request_error', param = null, code = null }: { readonly type?: string; readonly param?: string | null; readonly code?: string | null } = {},
  headers: Record<string, string> = {},
): Reply {
  return { ...json(status, { error: { message, type, param, code } }, 'refused', headers), reason: code ?? type }
}

/** Returns the refusal that an armed fault causes. */
export function byFault({ status, resetSeconds, code }: ArmedFault & { readonly status: number }, model: string): Reply {
  if (code === 'insufficient_quota') return refuse(429, 'You exceeded your current quota, please check your plan and billing details.', { type: code, code })
  switch (status) {
    case 400:
      return refuse(400, "Invalid value for 'messages': the sandbox was told to refuse this.", { param: 'messages', code: 'invalid_value' })
    case 401:
      return refuse(401, 'Incorrect API key provided: sk-***. Find yours in the settings.', { code: 'invalid_api_key' })
    case 403:
      return refuse(403, `Project does not have access to model \`${model}\``, { code: 'model_not_found' })
    case 404:
      return refuse(404, `The model \`${model}\` does not exist or you do not have access to it.`, { code: 'model_not_found' })
    case 429:
      return refuse(
        429,
        `Rate limit reached for ${model} in organization org-sandbox on requests per min (RPM): Limit 500, Used 500, Requested 1.${resetSeconds === undefined ? '' : ` Please try again in ${resetSeconds}s.`}`,
        { type: 'requests', code: 'rate_limit_exceeded' },
        resetSeconds === undefined ? {} : { 'retry-after': String(resetSeconds) },
      )
    case 503:
      return refuse(503, 'That model is currently overloaded with other requests. You can retry your request.', { type: 'server_error' })
    default:
      return status < 500
        ? refuse(status, 'The sandbox was told to refuse this.')
        : refuse(status, 'The server had an error while processing your request. Sorry about that!', { type: 'server_error' })
  }
}

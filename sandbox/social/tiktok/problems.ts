import { randomBytes } from 'node:crypto'
import type { Outcome, Reply } from '../../network.ts'
import { json } from '../../network.ts'

// The shapes in which TikTok answers: https://developers.tiktok.com/doc/tiktok-api-v2-error-handling

const logId = (): string => `${randomBytes(8).toString('hex').toUpperCase()}0123456789`

/** Everything is in an envelope, with `ok` for an error where there is none. */
export const enveloped = (data: object, outcome: Outcome): Reply => json(200, { data, error: { code: 'ok', message: '', log_id: logId() } }, outcome)

/** An error in its envelope. */
export const problem = (status: number, code: string, message: string): Reply => ({
  ...json(status, { data: {}, error: { code, message, log_id: logId() } }, 'refused'),
  reason: message,
})

const ofStatus: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ['invalid_params', 'One or more fields in request is invalid.'],
  401: ['access_token_invalid', 'The access token is invalid or not found in the request.'],
  403: ['spam_risk_user_banned_from_posting', 'The user is banned from making new posts.'],
  404: ['not_found', 'Unsupported path(Janus).'],
  429: ['rate_limit_exceeded', 'The API rate limit was exceeded. Please try again later.'],
}

/** As TikTok words a status. */
export function problemOfStatus(status: number): Reply {
  const [code, message] = ofStatus[status] ?? ['internal_error', 'Internal error. Please try again later.']
  return problem(status, code, message)
}

/** A refusal of the authorization server, which comes with 200 from TikTok: https://developers.tiktok.com/doc/oauth-user-access-token-management */
export const oauthError = (error: string, description: string): Reply => ({
  ...json(200, { error, error_description: description, log_id: logId() }, 'refused'),
  reason: description,
})

/** What the address of uploads answers: no envelope there. */
export const uploadProblem = (status: number, message: string): Reply => ({ ...json(status, { message }, 'refused'), reason: message })

import { statusOf } from '../../platform/errors.ts'
import type { JsonSchema } from '../rest/row.ts'

const text = { type: 'string' }
const ways = { type: 'array', items: { type: 'array', items: text } }

/** Schema of every error answer (RFC 9457). */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'What was wrong, and what to do next (RFC 9457).',
  properties: {
    type: { const: 'about:blank' },
    title: { ...text, description: 'The name of the status.' },
    status: { type: 'integer' },
    detail: { ...text, description: 'One sentence for the person who reads it.' },
    code: { ...text, enum: [...Object.keys(statusOf), 'NOT_READY'], description: 'What a program goes by.' },
    requestId: { ...text, description: 'Quote this id when you ask about the request.' },
    field: { ...text, description: 'The field, parameter or header that was wrong, as it is called here.' },
    reason: { ...text, description: 'Which case of the code it is, such as `STALE_VERSION`.' },
    requiredScopes: { ...ways, description: 'Scopes that would do: any of the lists, wholly.' },
    requiredPolicies: { ...ways, description: 'Policies that would do: any of the lists, wholly.' },
    signIn: { type: 'boolean', description: 'True for a caller who is not known: signing in might open it.' },
    version: { type: 'integer', description: 'The version at which the record is.' },
    retryAfter: { type: 'integer', description: 'Seconds after which to ask again.' },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
  // A reason may add members of its own.
  additionalProperties: true,
}

interface Refused {
  readonly status: number
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
}

const retryAfter = { 'Retry-After': { description: 'Seconds after which to ask again.', schema: { type: 'integer' } } }

/** Error answers, by the name under which operations refer to them. */
export const refusals = {
  BadUserInput: { status: statusOf.BAD_USER_INPUT, description: 'Something does not fit: `field` names it. Nothing was stored.' },
  Unauthenticated: {
    status: statusOf.UNAUTHENTICATED,
    description: 'The credentials are missing, wrong or expired.',
    headers: { 'WWW-Authenticate': { description: 'How to show who one is.', schema: text } },
  },
  Forbidden: { status: statusOf.FORBIDDEN, description: 'Known credentials that do not suffice; `requiredScopes` says what would.' },
  NotFound: { status: statusOf.NOT_FOUND, description: 'It does not exist, or belongs to another organization: the answer is the same.' },
  Conflict: { status: statusOf.CONFLICT, description: 'Its state does not allow it; `reason` names the case.' },
  PreconditionFailed: {
    status: 412,
    description: 'What is read is not what `If-Match` names, or a precondition header was sent where it cannot hold: leave the header out.',
  },
  TooLarge: { status: 413, description: 'The body is longer than what is read here.' },
  UnsupportedMediaType: { status: 415, description: 'The body’s media type is not one that is read here.' },
  RateLimited: { status: statusOf.RATE_LIMITED, description: 'Too much at once, or within a day.', headers: retryAfter },
  Problem: { status: 0, description: 'Any other refusal: the code says which.' },
} as const satisfies Record<string, Refused>

export type RefusalName = keyof typeof refusals

export const problemMedia = 'application/problem+json'

/** Builds `components.responses`. @param examples by the name of the answer */
export const refusalResponses = (examples: Readonly<Record<string, { readonly body?: unknown }>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(refusals).map(([name, { description, ...more }]) => {
      const example = examples[name]?.body
      const media = { schema: { $ref: '#/components/schemas/Problem' }, ...(example !== undefined && { example }) }
      return [name, { description, ...('headers' in more && { headers: more.headers }), content: { [problemMedia]: media } }]
    }),
  )

/** Returns references to some error answers by status, and to the rest as the default. */
export const refusing = (names: readonly RefusalName[]): Record<string, unknown> =>
  Object.fromEntries([
    ...names.map(name => [String(refusals[name].status), { $ref: `#/components/responses/${name}` }]),
    ['default', { $ref: '#/components/responses/Problem' }],
  ])

/** Returns the error answers that have one of the statuses. */
export const namesOfStatuses = (statuses: readonly number[]): readonly RefusalName[] =>
  (Object.keys(refusals) as RefusalName[]).filter(name => statuses.includes(refusals[name].status))

import type { Documented, Row } from '../row.ts'

const text = { type: 'string' } as const
const id = { type: 'string', format: 'uuid' } as const
const moment = { type: 'string', format: 'date-time' } as const
const object = (properties: Record<string, object>) => ({ type: 'object', properties, required: Object.keys(properties) })
const service = object({ id, slug: text, title: text, icon: text })

export const handoffRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/auth/handoff',
    access: { policy: 'person' },
    limit: 16 * 1024,
    to: 'identity',
    why: 'own answer',
    describes: [
      {
        name: 'makeHandoff',
        does: 'Makes a handoff of the active context to another service, which it exchanges once, within a minute, for a session of its own. 409 for a service that nobody opens (reason `NOT_LAUNCHABLE`) and for one that the active context is not for (`CONTEXT`), 429 past 30 a minute.',
        body: {
          schema: {
            type: 'object',
            properties: { service: { ...text, description: 'Its slug.' }, returnTo: { ...text, description: 'Path of the service that opens afterwards.' } },
            required: ['service'],
          },
        },
        refuses: [404, 409, 429],
        answers: {
          201: {
            description: 'Send the browser to `callbackUrl`.',
            schema: object({ code: text, expiresAt: moment, callbackUrl: { type: 'string', format: 'uri' }, service }),
          },
        },
      },
    ],
  },
]

export const handoffAnswers: readonly Documented[] = [
  {
    name: 'exchangeHandoff',
    at: 'POST /sso/exchange',
    does: 'Exchanges the code of a handoff for a session of the service that it leads to, of the same person, context and organization. The page of the service sends its `Origin` and is given a cookie; a program says `serviceId`, and its session ends with the token. Whoever comes with a code uses it up: 400 (reason `CODE`) for one that is unknown, used, expired or for another service, 409 (`OTHER_USER`) in a browser in which somebody else is signed in.',
    body: {
      schema: {
        type: 'object',
        properties: { code: text, serviceId: { ...id, description: 'The service that the code is for; needed by native apps, which send no Origin.' } },
        required: ['code'],
      },
    },
    reads: ['cookie'],
    refuses: [403, 409],
    answers: {
      200: {
        description: 'The person is signed in to the service.',
        schema: object({
          accessToken: text,
          expiresAt: moment,
          user: object({ id, email: text, name: text }),
          service,
          context: { type: 'string', enum: ['personal', 'organization'] },
          organizationId: { type: ['string', 'null'], format: 'uuid' },
          returnTo: { type: ['string', 'null'] },
        }),
      },
    },
  },
]

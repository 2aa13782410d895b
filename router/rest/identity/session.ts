import type { JsonSchema, Row } from '../row.ts'
import { recoveryFields } from './account.ts'

const text = { type: 'string' } as const
const words = { type: 'array', items: text } as const
const id = { type: 'string', format: 'uuid' } as const
const context = { type: 'string', enum: ['personal', 'organization'] } as const
const object = (properties: Record<string, object>): JsonSchema => ({ type: 'object', properties, required: Object.keys(properties) })
const organization = object({ id, slug: text, name: text })

const person = { kind: 'forward', method: 'GET', access: { policy: 'person' }, limit: 1024, to: 'identity', why: 'own answer' } as const

/** Members of the answer that says who is signed in. */
export const meFields = {
  user: object({
    ...{ id, name: text, email: { ...text, format: 'email' }, emailVerified: { type: 'boolean' }, image: { type: ['string', 'null'] } },
    kind: { type: 'string', enum: ['human', 'service_account'] },
  }),
  session: object({ id, kind: { type: 'string', enum: ['password', 'handoff', 'oauth'] }, expiresAt: { ...text, format: 'date-time' } }),
  context,
  organization: { anyOf: [organization, { type: 'null' }] },
  roles: words,
  scopes: words,
  organizations: { type: 'array', items: object({ id, slug: text, name: text, roles: words }) },
  recoveryEmail: object(recoveryFields),
} as const

/** Routes that pages call first: the signed-in person and the available services. */
export const sessionRows: readonly Row[] = [
  {
    ...person,
    path: '/api/auth/me',
    describes: [
      {
        name: 'me',
        does: 'Who is signed in, in which context and organization, with which roles and scopes, and to which organizations they may switch.',
        answers: {
          200: {
            description: 'The person.',
            schema: object(meFields),
          },
        },
      },
    ],
  },
  {
    ...person,
    path: '/api/auth/apps',
    describes: [
      {
        name: 'apps',
        does: 'The catalogue of an app-switcher: what people may open in the active context, by title, and where.',
        answers: {
          200: {
            description: 'The applications.',
            schema: object({
              context,
              apps: {
                type: 'array',
                items: object({
                  id,
                  slug: text,
                  title: text,
                  icon: text,
                  url: { type: ['string', 'null'], description: 'Its dashboard, or else its pages.' },
                  contexts: { type: 'array', items: context },
                  capabilities: { type: 'array', items: { type: 'string', enum: ['household_capable'] } },
                  kind: { type: 'string', enum: ['application'] },
                }),
              },
            }),
          },
        },
      },
    ],
  },
]

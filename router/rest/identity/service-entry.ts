import type { Row } from '../row.ts'

const text = { type: 'string' } as const
const uri = { type: 'string', format: 'uri' } as const
const oneOf = (...values: readonly string[]) => ({ type: 'string', enum: values })
const listOf = (items: object) => ({ type: 'array', items })
const object = (properties: Record<string, object>) => ({ type: 'object', properties, required: Object.keys(properties) })
const environment = oneOf('development', 'staging', 'production')

export const serviceEntryRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/services/:slug',
    access: { public: 'Pages and programs look up a service before sign-in.' },
    limit: 0,
    to: 'identity',
    why: 'own answer',
    describes: [
      {
        name: 'readService',
        does: 'A service of the platform by its slug: the id that the registry of this environment has for it, and where it is found. It may be kept for a minute, and asked for again by its `ETag`.',
        params: { slug: 'Its name in addresses and scopes, such as `publishing`.' },
        refuses: [404],
        answers: {
          200: {
            description: 'May be cached for one minute.',
            schema: object({
              id: { type: 'string', format: 'uuid' },
              slug: text,
              title: text,
              environment,
              kind: oneOf('application', 'technical'),
              contexts: listOf(oneOf('personal', 'organization')),
              capabilities: listOf(oneOf('household_capable')),
              icon: text,
              lifecycle: oneOf('active', 'deprecated', 'retired'),
              addresses: listOf(object({ role: text, url: uri, environment })),
              maintenance: {
                ...object({ until: { type: 'string', format: 'date-time' }, message: { type: ['string', 'null'] } }),
                type: ['object', 'null'],
                description: 'That it is under maintenance, and until when; null when it is not.',
              },
              mobileApps: listOf(
                object({
                  platform: oneOf('ios', 'android'),
                  appId: text,
                  storeUrl: { type: ['string', 'null'], format: 'uri' },
                  certificateFingerprints: listOf(text),
                }),
              ),
            }),
          },
          304: 'The client’s copy is current.',
        },
      },
    ],
  },
]

import type { Row } from '../row.ts'

const text = { type: 'string' } as const
const origin = { type: 'string', format: 'uri' } as const
const object = (properties: Record<string, object>) => ({ type: 'object', properties, required: Object.keys(properties) })

export const serviceIdentityRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/service-identity',
    access: { public: 'Pages need the address for sign-in before anybody is signed in.' },
    limit: 0,
    to: 'payments',
    why: 'own answer',
    describes: [
      {
        name: 'readServiceIdentity',
        does: 'Identity of payments on this platform: its id in the registry and the addresses that its pages use.',
        answers: {
          200: {
            description: 'May be cached for one minute.',
            schema: object({
              serviceId: { type: 'string', format: 'uuid' },
              slug: text,
              appId: text,
              environment: { type: 'string', enum: ['development', 'staging', 'production'] },
              addresses: object({ auth: origin, gateway: origin, app: origin }),
            }),
          },
        },
      },
    ],
  },
]

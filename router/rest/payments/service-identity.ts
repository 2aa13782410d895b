import type { Row } from '../row.ts'

const text = { type: 'string' } as const
const origin = { type: 'string', format: 'uri' } as const
const object = (properties: Record<string, object>) => ({ type: 'object', properties, required: Object.keys(properties) })

export const serviceIdentityRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/service-identity',
    access: { public: 'A page has to know where to sign in, and into what, before anybody has.' },
    limit: 0,
    to: 'payments',
    why: 'own answer',
    tells: [
      {
        name: 'readServiceIdentity',
        does: 'Who payments is on this platform: the id that the registry has for it, and where the parts are that its pages speak to.',
        answers: {
          200: {
            description: 'To be remembered for a minute at most.',
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

import { nounRoutes } from '../derive/route.ts'
import type { Documented, ForwardRow, JsonSchema, Row } from '../row.ts'

const launch = `
  id app title icon status source platform steps { kind url } expiresAt failure { code message retryable retryAfterSeconds } createdAt`

const operations = nounRoutes({
  select: { Launch: launch },
  routes: {
    'POST /api/launches': { run: 'launchApp', status: 201, noStore: true },
    'GET /api/launches': 'launches',
    'GET /api/launches/:id': 'launch',
    'POST /api/launches/:id/report': 'reportLaunch',
  },
})

const text = { type: 'string' } as const
const list = (items: JsonSchema) => ({ type: 'array', items })
const object = (properties: Readonly<Record<string, JsonSchema>>) => ({ type: 'object', properties, required: Object.keys(properties) })

const followed: Documented = {
  name: 'followLaunch',
  does: 'Leads on from the link of a launch where no native app took it: to the store of a phone for which there is one, else to the app with the code. Following it uses nothing up.',
  params: { serviceId: 'The id of the service that the code is for.' },
  query: { code: 'The code of the launch.' },
  answers: {
    302: 'The browser goes on.',
    400: {
      description: 'The link does not work any more; the page has a way back. Programs that prefer JSON get a problem, reason `CODE`.',
      type: 'text/html',
      schema: text,
    },
  },
}
const apple: Documented = {
  name: 'readAppleAssociation',
  does: 'The native apps for iOS, and the links that they open.',
  answers: {
    200: {
      description: 'As iOS reads it.',
      schema: object({ applinks: object({ details: list(object({ appIDs: list(text), components: list(object({ '/': text })) })) }) }),
    },
  },
}
const android: Documented = {
  name: 'readAndroidAssociation',
  does: 'The native apps for Android that may open links of this host.',
  answers: {
    200: {
      description: 'As Android reads it.',
      schema: list(object({ relation: list(text), target: object({ namespace: text, package_name: text, sha256_cert_fingerprints: list(text) }) })),
    },
  },
}

const association = {
  ...{ kind: 'forward', method: 'GET', everywhere: true, limit: 0, to: 'launcher', why: 'own answer' },
  access: { public: 'Phones read it when an app is installed.' },
} as const satisfies Partial<ForwardRow>

export const launchRows: readonly Row[] = [
  ...operations,
  {
    ...{ kind: 'forward', method: 'GET', path: '/launch/:serviceId', limit: 0, to: 'launcher', role: 'web', why: 'redirect' },
    access: { public: 'The code in the address is the credential.' },
    describes: [followed],
  },
  { ...association, path: '/.well-known/apple-app-site-association', describes: [apple] },
  { ...association, path: '/.well-known/assetlinks.json', describes: [android] },
]

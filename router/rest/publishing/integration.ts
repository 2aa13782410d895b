import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

const html = { type: 'text/html', schema: { type: 'string' } } as const

/** The pages on which a connection is not finished. */
const unfinished = {
  400: { description: 'A page that explains why nothing was connected.', ...html },
  403: { description: 'The same: the person who began it no longer manages the accounts.', ...html },
  404: { description: 'The same: the brand does not exist any more.', ...html },
  409: { description: 'The same: the brand’s state does not allow it.', ...html },
  502: { description: 'The network gave an unexpected answer; the page may be loaded again.', ...html },
  503: { description: 'It could not be finished now; the page may be loaded again.', ...html },
} as const

export const integrationRows: readonly Row[] = [
  ...nounRoutes({
    select: {
      Integration: `
        platform title application readiness connectable reason connected attention connectionIds: connections { id }
        targets { connectionId kind externalId name selected isDefault available reason }
        capabilities { text images video firstComment analytics thread lookup } limits { copy images videos videoSeconds }`,
    },
    routes: {
      'GET /api/integrations': 'integrations',
      'POST /api/integrations/:platform/connect': { run: 'connectIntegration', select: 'authorizationUrl' },
    },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/integrations/:platform/callback',
    access: { public: 'The network redirects the person here; the single-use state in the address identifies who began.' },
    limit: 0,
    to: 'publishing',
    why: 'page',
    describes: [
      {
        name: 'finishConnection',
        does: 'The network redirects a person’s browser here with its code. The browser that began the connection is connected at once; another one is asked to confirm first.',
        params: { platform: 'The network, in lower case.' },
        query: {
          state: 'State of the consent address; works once, within ten minutes.',
          code: 'Code that the network issued.',
          error: 'Error that the network reported.',
        },
        answers: {
          200: { description: 'A page that shows what was connected, or asks the person to confirm.', ...html },
          ...unfinished,
        },
      },
    ],
  },
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/integrations/:platform/callback',
    access: {
      public:
        'A person confirms here a connection that a program began; the single-use token of the page and the browser’s cookie prove that it was shown to them.',
    },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'page',
    describes: [
      {
        name: 'confirmConnection',
        does: 'A person confirms, with the form of the page before, a connection that a program began.',
        params: { platform: 'The network, in lower case.' },
        body: {
          type: 'application/x-www-form-urlencoded',
          schema: { type: 'object', properties: { token: { type: 'string' }, state: { type: 'string' } }, required: ['token', 'state'] },
        },
        answers: {
          200: { description: 'A page that shows what was connected.', ...html },
          ...unfinished,
        },
      },
    ],
  },
]

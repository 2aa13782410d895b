import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

const html = { type: 'text/html', schema: { type: 'string' } } as const

/** The pages on which a connection is not finished. */
const unfinished = {
  400: { description: 'A page that says why nothing was connected.', ...html },
  403: { description: 'The same: whoever began it no longer manages the accounts.', ...html },
  404: { description: 'The same: the brand is not there any more.', ...html },
  409: { description: 'The same: the brand’s state does not allow it.', ...html },
  502: { description: 'The network did not answer as it should; the page may be loaded again.', ...html },
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
    access: { public: 'The network sends the person back here; the state in the address, single use, says who began.' },
    limit: 0,
    to: 'publishing',
    why: 'page',
    tells: [
      {
        name: 'finishConnection',
        does: 'The network sends a person’s browser back here, with what it gave. In the browser that began it the account is connected; any other is asked first.',
        params: { platform: 'The network, in lower case.' },
        query: { state: 'What the consent address carried; single use, for ten minutes.', code: 'What the network gave.', error: 'Why it gave nothing.' },
        answers: {
          200: { description: 'A page that says what was connected, or asks the person.', ...html },
          ...unfinished,
        },
      },
    ],
  },
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/integrations/:platform/callback',
    access: { public: 'A person confirms here what a program began; the page’s token and the browser’s cookie, single use, say that it was shown to them.' },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'page',
    tells: [
      {
        name: 'confirmConnection',
        does: 'A person confirms, with the form of the page before, a connection that a program began.',
        params: { platform: 'The network, in lower case.' },
        body: {
          type: 'application/x-www-form-urlencoded',
          schema: { type: 'object', properties: { token: { type: 'string' }, state: { type: 'string' } }, required: ['token', 'state'] },
        },
        answers: {
          200: { description: 'A page that says what was connected.', ...html },
          ...unfinished,
        },
      },
    ],
  },
]

import { toEnum } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import { type ConnectIntegrationInput, RestConnectIntegrationDocument } from './integration.generated.ts'

export const integrationRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/integrations/:platform/connect',
    operation: RestConnectIntegrationDocument,
    body: ['brandId'],
    variables: ({ params, body }) => ({ input: { ...body, platform: toEnum(params.platform) } as ConnectIntegrationInput }),
    reply: ({ connectIntegration }) => connectIntegration && { body: { authorizationUrl: connectIntegration.authorizationUrl } },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/integrations/:platform/callback',
    access: { public: 'The network sends the person back here; the state in the address, single use, says who began.' },
    limit: 0,
    to: 'publishing',
    why: 'page',
  },
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/integrations/:platform/callback',
    access: { public: 'A person confirms here what a program began; the page’s token and the browser’s cookie, single use, say that it was shown to them.' },
    limit: 16 * 1024,
    to: 'publishing',
    why: 'page',
  },
]

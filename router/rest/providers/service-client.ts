import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreateServiceClientInput,
  type IssueServiceTokenInput,
  RestCreateServiceClientDocument,
  RestIssueServiceTokenDocument,
  RestRevokeServiceTokenDocument,
  RestServiceClientDocument,
  type RestServiceClientFieldsFragment,
  RestServiceClientsDocument,
  type RestServiceClientsQueryVariables,
  RestUpdateServiceClientDocument,
  type UpdateServiceClientInput,
} from './service-client.generated.ts'

/** A client as routes answer it: the graph's names, enum values in lower case. */
const toRest = (client: RestServiceClientFieldsFragment) => ({ ...client, operations: client.operations.map(fromEnum) })

/** One client with its version as entity tag, which `If-Match` takes back. */
const one = (client: RestServiceClientFieldsFragment | null | undefined): RowReply | null =>
  client ? { headers: { etag: tagOfVersion(client.version) }, body: toRest(client) } : null

/** A list of operations as the graph takes it; what is none stays, and the graph refuses it with a sentence. */
const operationsIn = ({ operations }: Readonly<Record<string, unknown>>) => (Array.isArray(operations) ? operations.map(toEnum) : operations)

export const serviceClientRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/service-clients',
    operation: RestServiceClientsDocument,
    query: ['first', 'after'],
    variables: ({ query }) => ({ ...query, first: toInteger(query.first) }) as RestServiceClientsQueryVariables,
    reply: ({ serviceClients }) => serviceClients && { body: listBody('serviceClients', serviceClients, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/service-clients',
    operation: RestCreateServiceClientDocument,
    body: ['appId', 'name', 'operations'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, operations: operationsIn(body), idempotencyKey } as CreateServiceClientInput }),
    reply: ({ createServiceClient }) => {
      const made = one(createServiceClient)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/providers/api/service-clients/${createServiceClient!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/service-clients/:id',
    operation: RestServiceClientDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ serviceClient }) => one(serviceClient),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/service-clients/:id',
    operation: RestUpdateServiceClientDocument,
    body: ['name', 'operations', 'active'],
    variables: ({ params, body, expectedVersion }) => ({
      input: { ...body, operations: operationsIn(body), id: params.id!, expectedVersion } as UpdateServiceClientInput,
    }),
    reply: ({ updateServiceClient }) => one(updateServiceClient),
  }),
  operationRow({
    method: 'POST',
    path: '/api/service-clients/:id/tokens',
    operation: RestIssueServiceTokenDocument,
    body: ['expiresAt'],
    names: { serviceClientId: 'id' },
    variables: ({ params, body, idempotencyKey }) => ({ input: { ...body, serviceClientId: params.id!, idempotencyKey } as IssueServiceTokenInput }),
    reply: ({ issueServiceToken }) =>
      issueServiceToken && {
        status: 201,
        headers: { 'cache-control': 'no-store' },
        body: { tokenId: issueServiceToken.tokenId, secret: issueServiceToken.secret ?? null },
      },
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/service-clients/:id/tokens/:tokenId',
    operation: RestRevokeServiceTokenDocument,
    variables: ({ params }) => ({ input: { id: params.id!, tokenId: params.tokenId! } }),
    reply: ({ revokeServiceToken }) => revokeServiceToken && { status: 204 },
  }),
]

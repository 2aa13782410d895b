import { newId } from '../../../../../platform/ids.ts'
import { type AccessRows, all, change, constant, type RouteRow, row, services, unrelated } from '../../../../access/row.ts'

/** Nobody of the columns administers the platform: `service-client.test.ts` says what its admins may do, and that keys and owners may not. */
const nobodyHere = services
const id = newId()
const field = (at: string, ask: () => string, path: string) => row(at, all, unrelated, nobodyHere, ask, path)
const mutation = (name: string, input: string, selection = 'id') => field(`Mutation.${name}`, change(name, () => input, selection) as () => string, name)
const route = (at: string, body?: object): RouteRow => ({
  at,
  scopes: all,
  less: unrelated,
  cells: nobodyHere,
  path: () => at.split(' ')[1]!.replace(':id', id).replace(':tokenId', id),
  ...(body && { body: () => body }),
})

export const access: AccessRows = {
  fields: [
    field('Query.serviceClient', constant(`{ serviceClient(id: "${id}") { id } }`), 'serviceClient'),
    field('Query.serviceClients', constant('{ serviceClients { nodes { id } } }'), 'serviceClients'),
    mutation('createServiceClient', 'appId: "app_of_the_matrix", name: "X", operations: []'),
    mutation('updateServiceClient', `id: "${id}", active: false`),
    mutation('issueServiceToken', `serviceClientId: "${id}"`, 'tokenId'),
    mutation('revokeServiceToken', `id: "${id}", tokenId: "${id}"`),
    field(
      'IssuedServiceToken.serviceClient',
      constant(`mutation { issueServiceToken(input: { serviceClientId: "${id}" }) { serviceClient { id } } }`),
      'issueServiceToken.serviceClient',
    ),
    field('ServiceClient.tokens', constant(`{ serviceClient(id: "${id}") { tokens { id } } }`), 'serviceClient.tokens'),
  ],
  routes: [
    route('GET /providers/api/service-clients'),
    route('POST /providers/api/service-clients', { appId: 'app_of_the_matrix', name: 'X', operations: [] }),
    route('GET /providers/api/service-clients/:id'),
    route('PUT /providers/api/service-clients/:id', { active: false }),
    route('POST /providers/api/service-clients/:id/tokens', {}),
    route('DELETE /providers/api/service-clients/:id/tokens/:tokenId'),
  ],
}

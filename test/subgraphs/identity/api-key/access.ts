import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, change, constant, type Fresh, type Ids, row } from '../../../access/row.ts'

/** Who makes a key with `posts.read`, and manages the keys of publishing. */
const manage: readonly Scope[] = ['publishing:api_keys.write', 'publishing:posts.read']
const less: readonly Scope[] = ['publishing:posts.read', 'publishing:posts.write']

const managersAndTheirKeys = 'refused yes refused refused refused yes yes'
const managersOfIt = 'refused yes refused refused refused yes hidden'

const freshKey: Fresh = async ({ graph, owner }) => {
  const document = 'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }'
  return (await graph.execute(document, { input: { name: 'New', scopes: ['publishing:posts.read'] } }, { as: owner })).data().createApiKey.apiKey.id
}

const aNewOne = () => `name: "New", scopes: ["publishing:posts.read"]`
const made = (field: string) =>
  row(`CreatedApiKey.${field}`, manage, less, managersAndTheirKeys, change('createApiKey', aNewOne, `${field} { id }`), `createApiKey.${field}`)
const path = '/identity/api/api-keys'
const one = ({ fresh }: Ids) => `${path}/${fresh}`

export const access: AccessRows = {
  fields: [
    row('Query.apiKeys', manage, less, managersAndTheirKeys, constant('{ apiKeys { nodes { id } } }'), 'apiKeys'),
    row('Mutation.createApiKey', manage, less, managersAndTheirKeys, change('createApiKey', aNewOne, 'secret'), 'createApiKey'),
    row(
      'Mutation.rotateApiKey',
      manage,
      less,
      managersOfIt,
      change('rotateApiKey', ({ fresh }) => `id: "${fresh}"`, 'secret'),
      'rotateApiKey',
      freshKey,
    ),
    row(
      'Mutation.revokeApiKey',
      manage,
      less,
      managersOfIt,
      change('revokeApiKey', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'revokeApiKey',
      freshKey,
    ),
    made('apiKey'),
    // Who sees a key sees which person it names; what a key has made names none.
    row(
      'ApiKey.createdBy',
      manage,
      less,
      'refused nothing refused refused refused yes yes',
      change('createApiKey', aNewOne, 'apiKey { createdBy { id } }'),
      'createApiKey.apiKey.createdBy',
    ),
    row(
      'ApiKey.serviceAccount',
      manage,
      less,
      'refused nothing refused refused refused nothing nothing',
      constant('{ apiKeys { nodes { serviceAccount { id } } } }'),
      'apiKeys.nodes.serviceAccount',
    ),
  ],
  routes: [
    { at: `GET ${path}`, scopes: manage, less, cells: managersAndTheirKeys, path: () => path },
    {
      at: `POST ${path}`,
      scopes: manage,
      less,
      cells: managersAndTheirKeys,
      path: () => path,
      body: () => ({ name: 'New', service: 'publishing', scopes: ['posts:read'] }),
    },
    { at: `POST ${path}/:id/rotate`, scopes: manage, less, cells: managersOfIt, path: ids => `${one(ids)}/rotate`, body: () => ({}), fresh: freshKey },
    { at: `DELETE ${path}/:id`, scopes: manage, less, cells: managersOfIt, path: one, fresh: freshKey },
  ],
}

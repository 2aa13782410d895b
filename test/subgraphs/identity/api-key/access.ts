import { type AccessRows, all, change, constant, type Fresh, managers, managersOfIt, row, unrelated } from '../../../access/row.ts'

const freshKey: Fresh = async ({ graph, owner }) => {
  const document = 'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }'
  return (await graph.execute(document, { input: { name: 'New', scopes: ['publishing:posts.read'] } }, { as: owner })).data().createApiKey.apiKey.id
}

export const access: AccessRows = {
  fields: [
    row('Query.apiKeys', all, unrelated, managers, constant('{ apiKeys { nodes { id } } }'), 'apiKeys'),
    row(
      'Mutation.createApiKey',
      all,
      unrelated,
      managers,
      change('createApiKey', () => `name: "New", scopes: ["publishing:posts.read"]`, 'secret'),
      'createApiKey',
    ),
    row(
      'Mutation.revokeApiKey',
      all,
      unrelated,
      managersOfIt,
      change('revokeApiKey', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'revokeApiKey',
      freshKey,
    ),
    row(
      'CreatedApiKey.apiKey',
      all,
      unrelated,
      managers,
      change('createApiKey', () => `name: "New", scopes: ["publishing:posts.read"]`, 'apiKey { id }'),
      'createApiKey.apiKey',
    ),
  ],
}

import { type AccessRows, all, change, constant, managers, managersOfIt, row, unrelated } from '../../../access/row.ts'

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
      'key',
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

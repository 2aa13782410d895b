import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, change, constant, type Fresh, type Ids, row } from '../../../access/row.ts'
import { seedCredential } from './seed.ts'

const manage: readonly Scope[] = ['providers:provider_credentials.manage']
const usage: readonly Scope[] = ['providers:usage.read']
const accountantsEachTheirOwn = 'refused yes refused refused refused yes yes'

const credential = (field: string) => (ids: Ids) => `{ credential(id: "${ids.credential}") { ${field} } }`
// Of a custom provider there may be several, each with a name of its own.
const fresh: Fresh = async ({ graph, owner }) => (await seedCredential(graph, { organizationId: owner.organizationId! })).id
const name: Fresh = async () => `models-${newId()}`
const fields = [{ name: 'apiKey', value: 'sk-of-a-test-alone' }]
const baseUrl = 'https://93.184.216.34/v1'

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedCredential(graph, { organizationId: outsider.organizationId! })
    await seedCredential(graph, { organizationId: null, provider: 'openai', name: 'OpenAI' })
    return { credential: (await seedCredential(graph, { organizationId: owner.organizationId! })).id }
  },
  fields: [
    row('Query.credential', manage, usage, accountants, credential('id'), 'credential'),
    row('Query.credentials', manage, usage, accountantsEachTheirOwn, constant('{ credentials { nodes { id } } }'), 'credentials'),
    row(
      'Mutation.createCredential',
      manage,
      usage,
      accountantsEachTheirOwn,
      change('createCredential', ids => `provider: "custom", name: "${ids.fresh}", baseUrl: "${baseUrl}", fields: [{ name: "apiKey", value: "sk-x" }]`, 'id'),
      'createCredential',
      name,
    ),
    ...['updateCredential', 'rotateCredential', 'testCredential'].map(mutation =>
      row(
        `Mutation.${mutation}`,
        manage,
        usage,
        accountants,
        change(
          mutation,
          ids => `id: "${ids.fresh}"${mutation === 'rotateCredential' ? ', fields: [{ name: "apiKey", value: "sk-of-a-test-alone" }]' : ''}`,
          'id',
        ),
        mutation,
        fresh,
      ),
    ),
    row(
      'Query.credentialResolution',
      manage,
      usage,
      accountantsEachTheirOwn,
      constant('{ credentialResolution(provider: "stripe") { provider } }'),
      'credentialResolution',
    ),
    row(
      'CredentialResolution.credential',
      manage,
      usage,
      accountantsEachTheirOwn,
      constant('{ credentialResolution(provider: "custom") { credential { id } } }'),
      'credentialResolution.credential',
    ),
    row(
      'Mutation.deleteCredential',
      manage,
      usage,
      accountants,
      change('deleteCredential', ids => `id: "${ids.fresh}"`, 'id'),
      'deleteCredential',
      fresh,
    ),
    row('Credential.organization', manage, usage, accountants, credential('organization { id }'), 'credential.organization'),
    row(
      'Organization.credentials',
      manage,
      usage,
      accountantsEachTheirOwn,
      constant('{ viewer { organization { credentials { pageInfo { hasNextPage } } } } }'),
      'viewer.organization.credentials',
    ),
  ],
  routes: [
    { at: 'GET /providers/api/credentials', scopes: manage, less: usage, cells: accountantsEachTheirOwn, path: () => '/providers/api/credentials' },
    {
      at: 'POST /providers/api/credentials',
      scopes: manage,
      less: usage,
      cells: accountantsEachTheirOwn,
      path: () => '/providers/api/credentials',
      body: ids => ({ provider: 'custom', name: ids.fresh, baseUrl, fields }),
      fresh: name,
    },
    { at: 'GET /providers/api/credentials/:id', scopes: manage, less: usage, cells: accountants, path: ids => `/providers/api/credentials/${ids.credential}` },
    {
      at: 'PUT /providers/api/credentials/:id',
      scopes: manage,
      less: usage,
      cells: accountants,
      path: ids => `/providers/api/credentials/${ids.fresh}`,
      body: () => ({ active: false }),
      fresh,
    },
    {
      at: 'POST /providers/api/credentials/:id/rotate',
      scopes: manage,
      less: usage,
      cells: accountants,
      path: ids => `/providers/api/credentials/${ids.fresh}/rotate`,
      body: () => ({ fields }),
      fresh,
    },
    {
      at: 'POST /providers/api/credentials/:id/test',
      scopes: manage,
      less: usage,
      cells: accountants,
      path: ids => `/providers/api/credentials/${ids.fresh}/test`,
      fresh,
    },
    {
      at: 'DELETE /providers/api/credentials/:id',
      scopes: manage,
      less: usage,
      cells: accountants,
      path: ids => `/providers/api/credentials/${ids.fresh}`,
      fresh,
    },
  ],
}

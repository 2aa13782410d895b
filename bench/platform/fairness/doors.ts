import { askAt, signIn } from '../../../test/kit/client.ts'
import { png } from '../../../test/subgraphs/publishing/media/files.ts'
import type { Sent } from './send.ts'

/** An organization with a brand, and its owner's credentials. */
interface Tenant {
  readonly brandId: string
  headers(service: Service): Readonly<Record<string, string>>
  query(document: string, variables?: Record<string, unknown>): Promise<Record<string, unknown>>
}

type Service = 'publishing' | 'providers'

/** Scopes of each key: a key is for one service. */
const scopes: Readonly<Record<Service, readonly string[]>> = {
  publishing: ['publishing:accounts.read', 'publishing:posts.read', 'publishing:posts.write'],
  providers: ['providers:ai.invoke'],
}

/** Returns the demo's organization, which calls by a key: a person has one caller's slots, over all organizations. */
export async function demoTenant(url: string): Promise<Tenant> {
  const { query } = await signIn(url)
  const { brands } = (await query('{ brands { nodes { id name } } }')) as { brands: { nodes: { id: string; name: string }[] } }
  const keyOf = async (service: Service) => {
    const { createApiKey } = (await query('mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
      input: { name: `Polite ${service}`, scopes: scopes[service], rateLimit: 6000 },
    })) as { createApiKey: { secret: string } }
    return { 'x-api-key': createApiKey.secret }
  }
  const keys = { publishing: await keyOf('publishing'), providers: await keyOf('providers') }
  return { brandId: brands.nodes.find(({ name }) => name === 'Demo Brand')!.id, headers: service => keys[service], query }
}

/** Returns another organization of the same person. */
export async function otherTenant(url: string): Promise<Tenant> {
  const { query } = await signIn(url)
  const { createOrganization } = (await query('mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }', {
    input: { name: 'Hostile', slug: 'hostile' },
  })) as { createOrganization: { id: string } }
  const { switchOrganization } = (await query('mutation($input: SwitchOrganizationInput!) { switchOrganization(input: $input) { accessToken } }', {
    input: { organizationId: createOrganization.id },
  })) as { switchOrganization: { accessToken: string } }
  const headers = { authorization: `Bearer ${switchOrganization.accessToken}` }
  const there: Tenant['query'] = async (document, variables) => (await askAt(url, document, variables, headers)).data() as Record<string, unknown>
  const { createBrand } = (await there('mutation { createBrand(input: { name: "Hamlet" }) { id } }')) as { createBrand: { id: string } }
  return { brandId: createBrand.id, headers: () => headers, query: there }
}

/** Sets up an organization's model calls. */
export async function openModels({ query }: Tenant): Promise<void> {
  await query('mutation($input: CreateCredentialInput!) { createCredential(input: $input) { id } }', {
    input: { provider: 'openai', name: 'Bench', fields: [{ name: 'apiKey', value: 'sk-bench-0123456789' }] },
  })
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const picture = png(40, 40, [200, 90, 40]).toString('base64')

/** Requests of each protocol, and the interval in ms of a polite client. */
export const doors: Readonly<Record<string, { readonly everyMs: number; sent(url: string, tenant: Tenant): Sent }>> = {
  reads: { everyMs: 25, sent: (url, { brandId, headers }) => graphql(url, headers('publishing'), `{ brand(id: "${brandId}") { name } }`) },
  writes: {
    everyMs: 50,
    sent: (url, { brandId, headers }) =>
      graphql(url, headers('publishing'), 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', {
        input: { brandId, platform: 'X', copy: 'fair' },
      }),
  },
  streams: {
    everyMs: 50,
    sent: (url, { brandId, headers }) => ({
      ...graphql(url, { ...headers('publishing'), accept: 'text/event-stream' }, `subscription { postStatusChanged(brandId: "${brandId}") { id } }`),
      leaves: true,
    }),
  },
  uploads: {
    everyMs: 100,
    sent: (url, { brandId, headers }) => ({
      url: `${url}/publishing/api/media?brandId=${brandId}&filename=fair.png`,
      method: 'POST',
      headers: { ...headers('publishing'), 'content-type': 'image/png' },
      body: picture,
    }),
  },
  models: {
    everyMs: 50,
    sent: (url, { headers }) => ({
      url: `${url}/providers/api/ai/chat/completions`,
      method: 'POST',
      headers: { ...headers('providers'), 'content-type': 'application/json' },
      body: base64(JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Say another, twenty times.' }] })),
    }),
  },
}

const graphql = (url: string, headers: Readonly<Record<string, string>>, query: string, variables: object = {}): Sent => ({
  url: `${url}/graphql`,
  method: 'POST',
  headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
  body: base64(JSON.stringify({ query, variables })),
})

import { createECDH, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getNamedType, isInputObjectType, isObjectType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { seedBrand } from '../subgraphs/publishing/brand/seed.ts'

/** A server on this machine that only the operator’s settings name: whoever makes the platform call it reads what it serves. */
const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(request.url!)
  response.writeHead(200, { 'content-type': 'text/plain' }).end('What nobody outside may read.')
})
let graph: Supergraph
let owner: Viewer
let inner: string
beforeAll(async () => {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  inner = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  graph = await supergraph({ sandbox: true, inside: [inner] })
  owner = (await graph.seed.owner()).owner
})
afterAll(async () => {
  await graph[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

/** What an address is for: the platform calls it, after a check or in a job alone, a browser or a network is given it, or another input stands for it. */
type Use = 'called' | 'called later' | 'shown' | `as ${string}`

/** Every address in an input of the graph. */
const uses: Readonly<Record<string, Use>> = {
  'AddFavouriteInput.url': 'shown',
  'AddPushSubscriptionInput.endpoint': 'called',
  'ComposeOverrideInput.link': 'shown',
  'ComposePostsInput.link': 'shown',
  'CreateAnnouncementInput.url': 'shown',
  'CreateCheckoutSessionInput.cancelUrl': 'shown',
  'CreateCheckoutSessionInput.successUrl': 'shown',
  'CreateConnectorInput.baseUrl': 'called',
  'CreateCredentialInput.baseUrl': 'called',
  'CreateKnowledgeSourceInput.url': 'called',
  'CreatePaymentMethodSessionInput.cancelUrl': 'shown',
  'CreatePaymentMethodSessionInput.successUrl': 'shown',
  'CreatePaymentWebhookInput.url': 'called',
  'CreatePostInput.link': 'shown',
  'CreateProcessorCheckoutSessionInput.cancelUrl': 'shown',
  'CreateProcessorCheckoutSessionInput.successUrl': 'shown',
  'CreateProcessorPortalSessionInput.returnUrl': 'shown',
  'CreateProfileSourceInput.url': 'called later',
  'CreateSharedLinkInput.icon': 'shown',
  'CreateSharedLinkInput.url': 'shown',
  'CreateTranscriptionInput.audioUrl': 'called',
  'CreateWebhookEndpointInput.url': 'called',
  'ImportMediaInput.url': 'called',
  'KnowledgeActionInput.androidUrl': 'shown',
  'KnowledgeActionInput.iosUrl': 'shown',
  'KnowledgeActionInput.url': 'shown',
  'LauncherWorkflowStepInput.url': 'shown',
  'UpdateAnnouncementInput.url': 'shown',
  'UpdateCredentialInput.baseUrl': 'as CreateCredentialInput.baseUrl',
  'UpdateKnowledgeSourceInput.url': 'as CreateKnowledgeSourceInput.url',
  'UpdateOrganizationSettingsInput.supportUrl': 'shown',
  'UpdatePaymentWebhookInput.url': 'as CreatePaymentWebhookInput.url',
  'UpdatePostInput.link': 'shown',
  'UpdateSharedLinkInput.icon': 'shown',
  'UpdateSharedLinkInput.url': 'shown',
  'UpdateUserInput.image': 'shown',
  'UpdateWebhookEndpointInput.url': 'as CreateWebhookEndpointInput.url',
}

test('says of every address in an input whether the platform calls it', () => {
  const isAddress = (name: string, type: string) => type === 'URL' || (type === 'String' && /url$/i.test(name))
  const found = Object.values(graph.platform.engine.schema.getTypeMap()).flatMap(type => {
    if (isInputObjectType(type))
      return Object.values(type.getFields()).flatMap(field => (isAddress(field.name, getNamedType(field.type).name) ? [`${type.name}.${field.name}`] : []))
    if (!isObjectType(type) || type.name.startsWith('__')) return []
    return Object.values(type.getFields()).flatMap(({ name, args }) =>
      args.flatMap(arg => (isAddress(arg.name, getNamedType(arg.type).name) ? [`${type.name}.${name}(${arg.name})`] : [])),
    )
  })
  expect(found.sort()).toEqual(Object.keys(uses).sort())
  for (const [field, use] of Object.entries(uses)) if (use.startsWith('as ')) expect(uses[use.slice(3)], field).toBe('called')
})

/** The inputs of those that are called. */
const inputs: Readonly<Record<string, () => Promise<object>>> = {
  'AddPushSubscriptionInput.endpoint': async () => ({
    p256dh: createECDH('prime256v1').generateKeys('base64url', 'uncompressed'),
    auth: randomBytes(16).toString('base64url'),
  }),
  'CreateConnectorInput.baseUrl': async () => ({ kind: 'MCP', name: 'Tools' }),
  'CreateCredentialInput.baseUrl': async () => ({ provider: 'custom', name: 'Own', fields: [{ name: 'apiKey', value: 'sk-of-a-test-0001' }] }),
  'CreateKnowledgeSourceInput.url': async () => ({ kind: 'URL', title: 'A page' }),
  'CreatePaymentWebhookInput.url': async () => ({ events: ['order.paid'] }),
  'CreateProfileSourceInput.url': async () => {
    const made = await graph.execute('mutation { createPersonProfile(input: { displayName: "A voice" }) { id } }', {}, { as: owner })
    return { kind: 'URL', title: 'A page', personProfileId: made.data().createPersonProfile.id }
  },
  'CreateTranscriptionInput.audioUrl': async () => ({}),
  'CreateWebhookEndpointInput.url': async () => ({
    brandId: (await seedBrand(graph, { organizationId: owner.organizationId! })).id,
    events: ['post.scheduled'],
  }),
  'ImportMediaInput.url': async () => ({ brandId: (await seedBrand(graph, { organizationId: owner.organizationId! })).id }),
}

test.each(Object.keys(uses).filter(field => uses[field]!.startsWith('called')))('%s never leads to a server that only settings name', async field => {
  const [type, name] = field.split('.') as [string, string]
  const mutation = `${type[0]!.toLowerCase()}${type.slice(1, -'Input'.length)}`
  const answer = await graph.execute(
    `mutation($input: ${type}!) { ${mutation}(input: $input) { __typename } }`,
    { input: { ...(await inputs[field]!()), [name]: `${inner}/${field}` } },
    { as: owner },
  )
  // What is taken in is called by jobs.
  await graph.clock.run(120_000)
  expect(asked).toEqual([])
  if (uses[field] === 'called later') expect(answer.data()).toBeTruthy()
  else expect(answer.refused('BAD_USER_INPUT').message).toMatch(/public|private network/)
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Door, openDoor, type Reply } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { person } from '../kit/viewers.ts'
import { seedWorkflow } from '../subgraphs/agents/workflow/seed.ts'
import { seedApps, seedPlatformApps } from '../subgraphs/launcher/catalog/seed.ts'
import { seedClaimable, seedClaimableVerification, seedLauncherClient } from '../subgraphs/launcher/commerce/seed.ts'
import { seedRecovery } from '../subgraphs/launcher/dashboard/workspace/seed.ts'
import { seedCustomer } from '../subgraphs/payments/parties/customer/seed.ts'
import { seedMerchant } from '../subgraphs/payments/parties/merchant/seed.ts'
import { seedCredential } from '../subgraphs/providers/credential/seed.ts'
import { seedDomain, seedIdentity } from '../subgraphs/providers/email/seed.ts'
import { seedBrand } from '../subgraphs/publishing/brand/seed.ts'
import { png } from '../subgraphs/publishing/media/files.ts'

const password = 'correct horse battery'
/** With what services show themselves in every service. */
const ownTokens = {
  publishing: 'the token of publishing, which is long enough',
  agents: 'the token of agents, which is long enough',
  launcher: 'the token of the launcher, which is long enough',
}
const settlementToken = 'the token of settlement at payments, which is long enough'
const roles = { owner: 'owner', viewer: 'viewer', outsider: 'owner', super: 'platform_super_admin' } as const
/** People without an organization, who are in personal context. */
const unattached = ['alone', 'partner'] as const
export type Who =
  | keyof typeof roles
  | (typeof unattached)[number]
  | 'nobody'
  | 'reader'
  | 'stranger'
  | 'service'
  | 'publishing'
  | 'agents'
  | 'launcher'
  | 'settlement'

export interface RestWorld extends AsyncDisposable {
  readonly graph: Supergraph
  /** A brand of the organization `acme`, which everybody but the outsider works in, and a draft of it. */
  readonly organizationId: string
  readonly brandId: string
  readonly postId: string
  /** A merchant of the organization. */
  readonly merchantId: string
  /** A customer of the organization. */
  readonly customerId: string
  /** A bundle that was bought with the owner's mail address, and waits for being claimed. */
  readonly bundleId: string
  /** A free workspace that was bought the same way. */
  readonly verificationId: string
  /** A workflow of the organization that can be started. */
  readonly workflowId: string
  /** Id of the dashboard's own service. */
  readonly dashboardServiceId: string
  /** The person `partner`. */
  readonly partnerId: string
  /** Who owns the organization. */
  readonly owner: Viewer
  /** Where pictures are fetched from: whatever is asked for there is one. */
  readonly files: string
  /** A domain that mails of `acme` may leave from. */
  readonly senderDomainId: string
  /** Asks a route by its path after `/publishing/api`, or by a whole path with a service's prefix. */
  ask(who: Who, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Sends the owner's bytes as JSON. */
  raw(method: string, path: string, body: Buffer): Promise<Reply>
  /** Writes a draft and answers it as the route does. */
  write(input?: object): Promise<{ readonly id: string; readonly version: number }>
}

/**
 * Every route over a real platform, with callers of several kinds before it: `reader` is a key with `posts.read` alone, `stranger` one with
 * nothing of publishing, `super` looks after the platform, `service` is payments at the gateway to providers, `publishing` and `agents` are calls of their own.
 */
export async function restWorld(): Promise<RestWorld> {
  const pictures = createServer((_request, response) => response.setHeader('content-type', 'image/png').end(png()))
  await new Promise<void>(resolve => pictures.listen(0, '127.0.0.1', resolve))
  const files = `http://localhost:${(pictures.address() as AddressInfo).port}`
  const graph = await supergraph({ sandbox: true, now: new Date().toISOString(), trusts: [files] })
  const door: Door = await openDoor(graph, {
    tokens: {
      own: new Map(Object.entries(ownTokens).map(([name, token]) => [`app_${name}`, [token]])),
      gateway: [],
      dedicated: [{ appId: 'app_settlement', at: 'payments', token: settlementToken }],
    },
  })
  const provisioned = await graph.platform.identity.provision({
    password,
    people: [...Object.keys(roles), ...unattached].map(name => ({ email: `${name}@test.test`, name })),
    organizations: [
      { slug: 'acme', name: 'Acme', members: (['owner', 'viewer'] as const).map(name => ({ email: `${name}@test.test`, roles: [roles[name]] })) },
      { slug: 'other', name: 'Other', members: [{ email: 'outsider@test.test', roles: ['owner'] }] },
      { slug: 'admin', name: 'Administration', members: [{ email: 'super@test.test', roles: ['platform_super_admin'] }] },
    ],
    keys: [
      { organization: 'acme', name: 'reader', scopes: ['publishing:posts.read'], createdBy: 'owner@test.test' },
      // Unused, but shown by the REST document.
      { organization: 'acme', name: 'nightly', scopes: ['launcher:widgets.read'], createdBy: 'owner@test.test' },
      { organization: 'acme', name: 'stranger', scopes: ['payments:reports.read'], createdBy: 'owner@test.test' },
    ],
  })
  await seedPlatformApps(graph)
  const bundleId = await seedClaimable(graph, 'owner@test.test')
  const verificationId = await seedClaimableVerification(graph, 'owner@test.test')
  await seedApps(
    graph,
    ...['help-desk', 'shift-planner', 'stock-count', 'time-sheet'].map(slug => ({
      slug,
      title: slug.replace('-', ' '),
      category: 'Office',
      publisher: 'Northwind Apps',
    })),
  )
  const credentials: Record<Who, Record<string, string>> = {
    nobody: {},
    reader: { 'x-api-key': provisioned.keys.reader!.secret! },
    stranger: { 'x-api-key': provisioned.keys.stranger!.secret! },
    owner: await door.signIn('owner@test.test', password),
    viewer: await door.signIn('viewer@test.test', password),
    outsider: await door.signIn('outsider@test.test', password),
    super: await door.signIn('super@test.test', password),
    alone: await door.signIn('alone@test.test', password),
    partner: await door.signIn('partner@test.test', password),
    service: {},
    publishing: {},
    agents: {},
    launcher: {},
    settlement: {},
  }
  const organizationId = provisioned.organizations.acme!
  const own = async (path: string, body: object) => (await door.ask('POST', `/providers/api/service-clients${path}`, { headers: credentials.super, body })).json
  const client = await own('', { appId: 'app_payments', name: 'Payments', operations: ['payments', 'transfers'] })
  const { secret } = await own(`/${client.id}/tokens`, {})
  credentials.service = { 'x-service-token': secret, 'x-app-id': 'app_payments', 'x-organization-id': organizationId }
  for (const name of ['publishing', 'agents'] as const)
    credentials[name] = { 'x-service-token': ownTokens[name], 'x-app-id': `app_${name}`, 'x-organization-id': organizationId }
  await seedLauncherClient(graph)
  credentials.launcher = { 'x-service-token': ownTokens.launcher, 'x-app-id': 'app_launcher' }
  credentials.settlement = { 'x-service-token': settlementToken, 'x-app-id': 'app_settlement', 'x-organization-id': organizationId }
  const owner = person(provisioned.users['owner@test.test']!, organizationId, ['owner'])
  await seedRecovery(graph, owner)
  const { id: brandId } = await seedBrand(graph, { organizationId })
  // The newest, so that lists begin with it whether the organization's default merchant is there yet or not.
  const createdAt = new Date(graph.clock.now().getTime() + 1000)
  const { id: merchantId } = await seedMerchant(graph, { organizationId, name: 'Kiosk', invoicePrefix: 'KIOSK', createdAt })
  const { id: customerId } = await seedCustomer(graph, { organizationId, name: 'Grace' })
  // Used for generated images.
  await seedCredential(graph, { organizationId: null, provider: 'openai', secret: 'sk-sandbox-openai-of-a-test' })
  // The sender of the platform's mails.
  await seedIdentity(graph, await seedDomain(graph, { organizationId: null, domain: 'platform.example.com' }), { localPart: 'no-reply', isDefault: true })
  const write: RestWorld['write'] = async (input = {}) => {
    const document = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id version } }'
    return (await graph.execute(document, { input: { brandId, platform: 'X', copy: 'A post', ...input } }, { as: owner })).data().createPost
  }
  return {
    graph,
    owner,
    dashboardServiceId: (await graph.execute('{ service(slug: "launcher") { id } }')).data().service.id,
    partnerId: provisioned.users['partner@test.test']!,
    bundleId,
    verificationId,
    organizationId,
    brandId,
    merchantId,
    customerId,
    workflowId: (await seedWorkflow(graph, { organizationId })).id,
    files,
    senderDomainId: (await seedDomain(graph, { organizationId, domain: 'acme.example.com' })).id,
    postId: (await write()).id,
    write,
    ask: (who, method, path, body, headers = {}) =>
      door.ask(method, /^\/[a-z]+\/api\//.test(path) ? path : `/publishing/api${path}`, {
        headers: { ...credentials[who], ...headers },
        ...(body !== undefined && { body }),
      }),
    raw: (method, path, body) => door.ask(method, `/publishing/api${path}`, { headers: { ...credentials.owner, 'content-type': 'application/json' }, body }),
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]()
      await graph[Symbol.asyncDispose]()
      pictures.close()
    },
  }
}

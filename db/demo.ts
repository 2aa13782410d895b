import type { Clock } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import type { Outbound } from '../platform/outbound.ts'
import { lineOf } from '../start-error.ts'
import type { Identity } from '../subgraphs/identity/definition.ts'
import type { World } from '../subgraphs/identity/setup/provision.ts'
import { failure } from '../subgraphs/publishing/delivery/rules.ts'
import { callbackUrl } from '../subgraphs/publishing/integration/rules.ts'
import type { PostRow } from '../subgraphs/publishing/post/table.ts'
import type { Room } from '../subgraphs/publishing/room.ts'
import { readDemoFile, writeDemoFile } from './demo-file.ts'

/** The password of every demo account; accounts exist only where it may be printed. */
export const demoPassword = 'supergraph-demo'

const keyName = 'Demo key: read posts'
const brandName = 'Demo Brand'

export const demoWorld: World = {
  password: demoPassword,
  people: [
    { email: 'owner@demo.test', name: 'Olivia Owner' },
    { email: 'admin@demo.test', name: 'Adam Admin' },
    { email: 'member@demo.test', name: 'Mia Member' },
    { email: 'peer@demo.test', name: 'Paul Peer' },
    { email: 'outsider@other.test', name: 'Otto Outsider' },
    { email: 'super@admin.test', name: 'Sara Super' },
  ],
  organizations: [
    {
      slug: 'demo',
      name: 'Demo',
      members: [
        { email: 'owner@demo.test', roles: ['owner'] },
        { email: 'admin@demo.test', roles: ['admin'] },
        { email: 'member@demo.test', roles: ['member'] },
        { email: 'peer@demo.test', roles: ['member'] },
      ],
    },
    { slug: 'other', name: 'Other', members: [{ email: 'outsider@other.test', roles: ['owner'] }] },
    { slug: 'admin', name: 'Platform administration', members: [{ email: 'super@admin.test', roles: ['platform_super_admin'] }] },
  ],
  keys: [{ organization: 'demo', name: keyName, scopes: ['publishing:posts.read'], createdBy: 'owner@demo.test' }],
}

export interface DemoNeeds {
  readonly identity: Identity
  readonly publishing: Room
  readonly outbound: Outbound
  readonly clock: Clock
  readonly dataDir: string
  /** Origin of the sandbox. */
  readonly sandbox: string
}

/**
 * Makes the demo world where it is missing, leaves alone what is there, and writes its ids for `npm run demo:ids`.
 * @returns what could not be made, a sentence each: no start depends on what the network answers
 */
export async function provideDemo(needs: DemoNeeds): Promise<readonly string[]> {
  const { identity, publishing, dataDir, sandbox } = needs
  const known = readDemoFile(dataDir)
  // A key's clear text exists once: when the file is lost, the key is replaced.
  const world = { ...demoWorld, keys: demoWorld.keys.map(key => ({ ...key, reissue: !known?.apiKey })) }
  const { users, organizations, keys } = await identity.provision(world)
  const organizationId = organizations.demo!
  const owner = users['owner@demo.test']!
  const brandId = await provideBrand(needs, organizationId, owner)
  const posts = await providePosts(needs, brandId, organizationId, owner)
  const notices = await provideConnection(needs, brandId, owner).then(
    () => [],
    error => [`the demo brand is not connected, the sandbox's X failed (${lineOf(error)}): the next start tries again`],
  )
  const facts = { organizationId, brandId, threadId: posts.threadId, postIds: posts.postIds, apiKey: keys[keyName]!.secret ?? known!.apiKey, sandbox }
  writeDemoFile(dataDir, facts)
  publishing.log.debug({ brandId }, 'the demo world is there')
  return notices
}

async function provideBrand({ publishing, clock }: DemoNeeds, organizationId: string, owner: string): Promise<string> {
  const brands = await publishing.brands.lists.all.pages([organizationId], { first: 100, limit: 100, after: null })
  const present = brands.get(organizationId)?.find(brand => brand.name === brandName)
  if (present) return present.id
  const now = clock.now()
  const id = newId(now)
  await publishing.brands.create({ id, organizationId, name: brandName, createdAt: now, updatedAt: now, createdBy: `user:${owner}` })
  return id
}

const dayMs = 86_400_000
/** How far ahead the demo's set times lie, in days: nothing of it is sent while somebody looks around. */
const daysAhead = 60

async function providePosts(
  { publishing, clock }: DemoNeeds,
  brandId: string,
  organizationId: string,
  owner: string,
): Promise<{ threadId: string; postIds: string[] }> {
  const { posts, sequelize } = publishing
  const present = (await posts.page({ organizationId, brandId }, { first: 100, limit: 100, after: null })).filter(post =>
    post.idempotencyKey?.startsWith('demo-'),
  )
  const rows = new Map(present.map(post => [post.idempotencyKey!, post]))
  const now = clock.now()
  const ahead = (days: number) => new Date(now.getTime() + (daysAhead + days) * dayMs)
  const write = async (key: string, copy: string, place: { threadId?: string; scheduledAt?: Date; after?: Partial<PostRow> }) => {
    const there = rows.get(key)
    if (there) return there
    return sequelize.transaction(async transaction => {
      const { row } = await posts.create(
        {
          id: newId(now),
          brandId,
          threadId: place.threadId ?? null,
          platform: 'X',
          copy,
          target: null,
          status: place.scheduledAt ? 'SCHEDULED' : 'DRAFT',
          scheduledAt: place.scheduledAt ?? null,
          authorId: owner,
          createdAt: now,
          createdBy: `user:${owner}`,
          idempotency: { key, hash: key },
        },
        transaction,
      )
      return place.after ? posts.update(row, place.after, transaction) : row
    })
  }
  const first = await write('demo-thread-1', 'Three things we learned while building a supergraph. A thread.', { scheduledAt: ahead(0) })
  const { threadId } = first
  const second = await write('demo-thread-2', 'One: whoever owns a type owns its rules. Everybody else holds a key.', { threadId, scheduledAt: ahead(0) })
  const third = await write('demo-thread-3', 'Two and three: measure in one run, and never send a post twice.', { threadId, scheduledAt: ahead(0) })
  const draft = await write('demo-draft', 'Notes for the next release. Nobody has set a time for this one yet.', {})
  const scheduled = await write('demo-scheduled', 'Our office hours move to Thursdays.', { scheduledAt: ahead(7) })
  const published = await write('demo-published', 'Hello from the demo brand.', {
    after: {
      status: 'PUBLISHED',
      publishedAt: now,
      platformPostId: '1000000000000000001',
      permalink: 'https://x.com/demo/status/1000000000000000001',
      attempts: 1,
    },
  })
  const failed = await write('demo-failed', 'This one met a network that said no.', {
    after: { status: 'FAILED', attempts: 1, ...failure('NETWORK_REFUSED', 'X', 'You are not permitted to perform this action.', now) },
  })
  return { threadId, postIds: [first, second, third, draft, scheduled, published, failed].map(post => post.id) }
}

/** Connects the demo brand through the sandbox's own OAuth flow, as a person would, if it is not connected. Elsewhere people connect by hand. */
async function provideConnection({ publishing, outbound, clock, sandbox }: DemoNeeds, brandId: string, owner: string): Promise<void> {
  const { networks, connections, sequelize, publicUrl } = publishing
  const x = networks.get('X')
  const present = (await connections.byBrands([brandId])).find(connection => connection.platform === 'X')
  if (!x || present?.active) return
  const state = newId()
  const redirectUri = callbackUrl(publicUrl, 'X')
  const { url, verifier } = await x.authorize({ redirectUri, state })
  if (new URL(url).origin !== new URL(sandbox).origin) return
  const { headers } = await outbound(`${url}&sandbox_approve=1`)
  const parameters = new URL(headers.get('location') ?? redirectUri).searchParams
  const grant = await x.exchange({ parameters, redirectUri, state, verifier })
  const account = await x.account(grant.accessToken)
  await sequelize.transaction(transaction => connections.authorize({ brandId, platform: 'X', userId: owner, account, grant, now: clock.now() }, transaction))
}

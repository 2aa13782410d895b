import { newId } from '../../platform/ids.ts'
import type { BrandRow } from '../../subgraphs/publishing/brand/table.ts'
import type { ConnectionRow } from '../../subgraphs/publishing/connection/table.ts'
import type { PostRow } from '../../subgraphs/publishing/post/table.ts'
import type { Scope } from '../../subgraphs/scopes.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { identityOf } from './identity.ts'
import type { Supergraph } from './supergraph.ts'
import { key, person } from './viewers.ts'

export interface OrganizationSeed {
  readonly id: string
  readonly name: string
}

/** What is to stand in a post's row; without anything it is a draft of its own. */
export type PostSeed = Partial<Pick<PostRow, 'copy' | 'platform' | 'scheduledAt' | 'target'>> & {
  readonly threadId?: string
  /** Who writes it. @default the owner */
  readonly by?: Viewer
  /** What is written over the row afterwards, to tell of a past that the test is not about. */
  readonly row?: Partial<PostRow>
}

export interface ConnectionSeed {
  /** Whose connection it is. @default the owner's */
  readonly by?: Viewer
  /** Another account than the one that the sandbox plays: it publishes nothing. */
  readonly externalAccountId?: string
}

/** What may happen once there is an organization; awaited, a story gives everything that it told of. */
export interface OwnerStory<World> extends PromiseLike<World> {
  /** One more person of the organization, with the role `member`. */
  member(): OwnerStory<World & { member: Viewer }>
  /** One who may only look. */
  viewer(): OwnerStory<World & { viewer: Viewer }>
  /** Somebody else, who owns another organization. */
  outsider(): OwnerStory<World & { outsider: Viewer; elsewhere: OrganizationSeed }>
  /** A program with these scopes. */
  key(...scopes: Scope[]): OwnerStory<World & { key: Viewer }>
  brand(name?: string): BrandStory<World & { brand: BrandRow }>
}

/** What may happen once there is a brand. */
export interface BrandStory<World> extends PromiseLike<World> {
  member(): BrandStory<World & { member: Viewer }>
  viewer(): BrandStory<World & { viewer: Viewer }>
  outsider(): BrandStory<World & { outsider: Viewer; elsewhere: OrganizationSeed }>
  key(...scopes: Scope[]): BrandStory<World & { key: Viewer }>
  /** Another brand of the organization, which the story goes on with. */
  brand(name?: string): BrandStory<World>
  post(post?: PostSeed): BrandStory<World & { post: PostRow }>
  /** So many posts, each a thread of its own, one second apart, oldest first. */
  posts(count: number, post?: PostSeed): BrandStory<World & { posts: PostRow[] }>
  /** So many posts in one thread, in its order. */
  thread(count: number, post?: PostSeed): BrandStory<World & { thread: PostRow[] }>
  /** An account of X that the brand may publish with: the sandbox's when there is one. */
  connection(connection?: ConnectionSeed): BrandStory<World & { connection: ConnectionRow }>
}

export interface Seed {
  /** A story begins with an organization and the person who owns it. */
  owner(): OwnerStory<{ owner: Viewer; organization: OrganizationSeed }>
}

type Graph = Omit<Supergraph, 'seed'>
// biome-ignore lint/suspicious/noExplicitAny: the interfaces above say what a story holds at each step
type Told = Record<string, any>

/** Makes the story-teller of one supergraph. */
export function createSeed(graph: Graph): Seed {
  const { database, clock, job } = graph
  const identity = identityOf(database.sequelize, clock)
  let people = 0

  async function someone(role: string, organizationId: string): Promise<Viewer> {
    const now = clock.now()
    people += 1
    const user = { id: newId(now), name: `Person ${people}`, email: `person-${people}@example.test`, emailVerified: true, createdAt: now, updatedAt: now }
    const membership = { organizationId, id: newId(now), userId: user.id, roles: [role], createdAt: now, updatedAt: now, createdBy: 'platform' }
    await inTransaction(identity, async ({ transaction }) => {
      await identity.users.insert(user, transaction)
      await identity.memberships.insert(membership, transaction)
    })
    return person(user.id, organizationId, [role])
  }

  async function organization(): Promise<OrganizationSeed> {
    const now = clock.now()
    const id = newId(now)
    const row = { id, slug: `organization-${id}`.slice(0, 40).replace(/-$/, ''), name: `Organization ${id.slice(-4)}` }
    await inTransaction(identity, ({ transaction }) =>
      identity.organizations.insert({ ...row, createdAt: now, updatedAt: now, createdBy: 'platform' }, transaction),
    )
    return { id, name: row.name }
  }

  async function brand({ owner, organization: { id: organizationId } }: Told, name = 'A brand'): Promise<BrandRow> {
    const now = clock.now()
    const row = { id: newId(now), organizationId, name, createdAt: now, updatedAt: now, createdBy: `user:${owner.userId}` }
    return inTransaction(job, ({ transaction }) => job.brands.insert(row, transaction))
  }

  async function post(world: Told, { by = world.owner, row, scheduledAt, copy = `A post ${newId().slice(-12)}`, ...rest }: PostSeed = {}): Promise<PostRow> {
    const input = { brandId: world.brand.id, platform: 'X', copy, ...rest, ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }) }
    const document = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
    const { id } = (await graph.execute(document, { input }, { as: by })).data().createPost
    const made = await job.posts.byId.load(id)
    return row ? inTransaction(job, ({ transaction }) => job.posts.update(made!, row, transaction)) : made!
  }

  async function several(count: number, write: (before: PostRow | undefined) => Promise<PostRow>): Promise<PostRow[]> {
    const posts: PostRow[] = []
    for (let number = 0; number < count; number += 1) {
      posts.push(await write(posts[0]))
      await clock.advance(1000)
    }
    return posts
  }

  async function connection({ brand: { id: brandId }, owner }: Told, { by = owner, externalAccountId }: ConnectionSeed = {}): Promise<ConnectionRow> {
    const { grant, account } = externalAccountId || !job.networks.has('X') ? noAccount(externalAccountId) : await sandboxAccount(graph)
    const authorized = { brandId, platform: 'X' as const, userId: by.userId!, account, grant, now: clock.now() }
    return inTransaction(job, ({ transaction }) => job.connections.authorize(authorized, transaction))
  }

  const steps: Record<string, (world: Told, ...parameters: never[]) => Promise<Told>> = {
    owner: async () => {
      const place = await organization()
      return { organization: place, owner: await someone('owner', place.id) }
    },
    member: async world => ({ member: await someone('member', world.organization.id) }),
    viewer: async world => ({ viewer: await someone('viewer', world.organization.id) }),
    outsider: async () => {
      const elsewhere = await organization()
      return { elsewhere, outsider: await someone('owner', elsewhere.id) }
    },
    key: async (world, ...scopes: Scope[]) => ({ key: key(world.organization.id, scopes) }),
    brand: async (world, name?: string) => ({ brand: await brand(world, name) }),
    post: async (world, seed?: PostSeed) => ({ post: await post(world, seed) }),
    posts: async (world, count: number, seed?: PostSeed) => ({ posts: await several(count, () => post(world, seed)) }),
    thread: async (world, count: number, seed?: PostSeed) => ({
      thread: await several(count, first => post(world, { ...seed, ...(first && { threadId: first.threadId }) })),
    }),
    connection: async (world, seed?: ConnectionSeed) => ({ connection: await connection(world, seed) }),
  }

  // Steps wait for each other, so a story reads in the order in which it happens.
  const tell = (past: Promise<Told>): Told => ({
    ...Object.fromEntries(
      Object.entries(steps).map(([verb, step]) => [
        verb,
        (...parameters: never[]) => tell(past.then(async world => ({ ...world, ...(await step(world, ...parameters)) }))),
      ]),
    ),
    // biome-ignore lint/suspicious/noThenProperty: a story is awaited where it ends
    then: past.then.bind(past),
  })
  return { owner: () => tell(Promise.resolve({})).owner() as OwnerStory<{ owner: Viewer; organization: OrganizationSeed }> }
}

/** Tokens that open nothing, for connections that no test sends anything by. */
const noAccount = (externalId = newId()) => ({
  account: { externalId, name: '@nobody' },
  grant: { accessToken: `access of ${externalId}`, refreshToken: `refresh of ${externalId}`, expiresIn: 7200, scopes: [] },
})

async function sandboxAccount({ x }: Graph) {
  const { id, username } = x.demo.account
  const granted = await x.demo.grant(x.settings.clientId)
  return { account: { externalId: id, name: `@${username}` }, grant: { ...granted, scopes: granted.scope.split(' ') } }
}

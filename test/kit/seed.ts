import type { OrganizationRow } from '../../subgraphs/identity/stores/organization.ts'
import type { BrandRow } from '../../subgraphs/publishing/stores/brand.ts'
import type { ConnectionRow } from '../../subgraphs/publishing/stores/connection.ts'
import type { PostRow } from '../../subgraphs/publishing/stores/post.ts'
import type { Scope } from '../../subgraphs/scopes.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { seedMembership } from '../subgraphs/identity/membership/seed.ts'
import { seedOrganization } from '../subgraphs/identity/organization/seed.ts'
import { seedPerson } from '../subgraphs/identity/user/seed.ts'
import { seedBrand } from '../subgraphs/publishing/brand/seed.ts'
import { type ConnectionSeed, seedConnection } from '../subgraphs/publishing/connection/seed.ts'
import { type PostSeed, seedPost } from '../subgraphs/publishing/post/seed.ts'
import type { Supergraph } from './supergraph.ts'
import { key, person } from './viewers.ts'

/** What may happen once there is an organization; awaited, a story gives everything that it told of. */
export interface OwnerStory<World> extends PromiseLike<World> {
  /** One more person of the organization, with the role `member`. */
  member(): OwnerStory<World & { member: Viewer }>
  /** One who may only look. */
  viewer(): OwnerStory<World & { viewer: Viewer }>
  /** Somebody else, who owns another organization. */
  outsider(): OwnerStory<World & { outsider: Viewer; elsewhere: OrganizationRow }>
  /** A program with these scopes. */
  key(...scopes: Scope[]): OwnerStory<World & { key: Viewer }>
  brand(name?: string): BrandStory<World & { brand: BrandRow }>
}

/** What may happen once there is a brand. */
export interface BrandStory<World> extends PromiseLike<World> {
  member(): BrandStory<World & { member: Viewer }>
  viewer(): BrandStory<World & { viewer: Viewer }>
  outsider(): BrandStory<World & { outsider: Viewer; elsewhere: OrganizationRow }>
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
  owner(): OwnerStory<{ owner: Viewer; organization: OrganizationRow }>
}

type Graph = Omit<Supergraph, 'seed'>
// biome-ignore lint/suspicious/noExplicitAny: the interfaces above say what a story holds at each step
type Seeded = Record<string, any>

/** Makes the story-teller of one supergraph. */
export function createSeed(graph: Graph): Seed {
  const { clock } = graph
  let people = 0

  async function someone(role: string, organizationId: string): Promise<Viewer> {
    people += 1
    const { id: userId } = await seedPerson(graph, `Person ${people}`)
    await seedMembership(graph, { organizationId, userId, role })
    return person(userId, organizationId, [role])
  }

  const place = ({ brand, owner }: Seeded) => ({ brandId: brand.id, owner })
  const post = (world: Seeded, seed?: PostSeed) => seedPost(graph, place(world), seed)

  async function several(count: number, write: (before: PostRow | undefined) => Promise<PostRow>): Promise<PostRow[]> {
    const posts: PostRow[] = []
    for (let number = 0; number < count; number += 1) {
      posts.push(await write(posts[0]))
      await clock.advance(1000)
    }
    return posts
  }

  const steps: Record<string, (world: Seeded, ...parameters: never[]) => Promise<Seeded>> = {
    owner: async () => {
      const place = await seedOrganization(graph)
      return { organization: place, owner: await someone('owner', place.id) }
    },
    member: async world => ({ member: await someone('member', world.organization.id) }),
    viewer: async world => ({ viewer: await someone('viewer', world.organization.id) }),
    outsider: async () => {
      const elsewhere = await seedOrganization(graph)
      return { elsewhere, outsider: await someone('owner', elsewhere.id) }
    },
    key: async (world, ...scopes: Scope[]) => ({ key: key(world.organization.id, scopes) }),
    brand: async ({ organization: { id: organizationId }, owner }, name?: string) => ({
      brand: await seedBrand(graph, { organizationId, name, createdBy: `user:${owner.userId}` }),
    }),
    post: async (world, seed?: PostSeed) => ({ post: await post(world, seed) }),
    posts: async (world, count: number, seed?: PostSeed) => ({ posts: await several(count, () => post(world, seed)) }),
    thread: async (world, count: number, seed?: PostSeed) => ({
      thread: await several(count, first => post(world, { ...seed, ...(first && { threadId: first.threadId }) })),
    }),
    connection: async (world, seed?: ConnectionSeed) => ({ connection: await seedConnection(graph, place(world), seed) }),
  }

  // Steps run one after the other, so a story reads in the order of its events.
  const tell = (past: Promise<Seeded>): Seeded => ({
    ...Object.fromEntries(
      Object.entries(steps).map(([verb, step]) => [
        verb,
        (...parameters: never[]) => tell(past.then(async world => ({ ...world, ...(await step(world, ...parameters)) }))),
      ]),
    ),
    // biome-ignore lint/suspicious/noThenProperty: a story is awaited where it ends
    then: past.then.bind(past),
  })
  return { owner: () => tell(Promise.resolve({})).owner() as OwnerStory<{ owner: Viewer; organization: OrganizationRow }> }
}

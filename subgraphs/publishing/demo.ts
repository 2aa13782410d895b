import { newId } from '../../platform/ids.ts'
import type { Outbound } from '../../platform/outbound.ts'
import { type Deletion, deletionsBy, type Run } from '../demo.ts'
import { failure } from './delivery/rules.ts'
import { callbackUrl } from './integration/rules.ts'
import type { PostRow } from './post/table.ts'
import type { Room } from './room.ts'

const brandName = 'Demo Brand'

interface DemoPost {
  /** Its idempotency key, by which the next start finds it again. */
  readonly mark: string
  readonly copy: string
  /** Whether it follows the first in a thread. @default false */
  readonly inThread?: boolean
  /** Its set time, in days after the first one's; without one it is a draft, or what `after` says. */
  readonly afterDays?: number
  /** What became of it. */
  after?(now: Date): Partial<PostRow>
}

/** How far ahead the demo's set times lie, in days: nothing of it is sent while somebody looks around. */
const daysAhead = 60
const dayMs = 86_400_000

/** The thread in its order, then the others. */
const demoPosts: readonly [DemoPost, ...DemoPost[]] = [
  { mark: 'demo-thread-1', copy: 'Three things we learned while building a supergraph. A thread.', afterDays: 0 },
  { mark: 'demo-thread-2', copy: 'One: whoever owns a type owns its rules. Everybody else holds a key.', inThread: true, afterDays: 0 },
  { mark: 'demo-thread-3', copy: 'Two and three: measure in one run, and never send a post twice.', inThread: true, afterDays: 0 },
  { mark: 'demo-draft', copy: 'Notes for the next release. Nobody has set a time for this one yet.' },
  { mark: 'demo-scheduled', copy: 'Our office hours move to Thursdays.', afterDays: 7 },
  {
    mark: 'demo-published',
    copy: 'Hello from the demo brand.',
    after: now => ({
      status: 'PUBLISHED',
      publishedAt: now,
      platformPostId: '1000000000000000001',
      permalink: 'https://x.com/demo/status/1000000000000000001',
      attempts: 1,
    }),
  },
  {
    mark: 'demo-failed',
    copy: 'This one met a network that said no.',
    after: now => ({ status: 'FAILED', attempts: 1, ...failure('NETWORK_REFUSED', 'X', 'You are not permitted to perform this action.', now) }),
  },
]

/** Whose the demo is. */
export interface DemoOwner {
  readonly organizationId: string
  readonly userId: string
}

/** Makes what is missing of the demo's brand and posts. */
export async function provideDemo(room: Room, owner: DemoOwner): Promise<{ readonly brandId: string; readonly threadId: string; readonly postIds: string[] }> {
  const { posts, sequelize, clock } = room
  const { organizationId, userId } = owner
  const brandId = await provideBrand(room, owner)
  const page = await posts.page({ organizationId, brandId }, { first: 100, limit: 100, after: null })
  const present = new Map(page.flatMap(post => (post.idempotencyKey?.startsWith('demo-') ? [[post.idempotencyKey, post] as const] : [])))
  const now = clock.now()
  const write = ({ mark, copy, afterDays, after }: DemoPost, threadId: string | null) =>
    sequelize.transaction(async transaction => {
      const { row } = await posts.create(
        {
          id: newId(now),
          brandId,
          threadId,
          platform: 'X',
          copy,
          target: null,
          status: afterDays === undefined ? 'DRAFT' : 'SCHEDULED',
          scheduledAt: afterDays === undefined ? null : new Date(now.getTime() + (daysAhead + afterDays) * dayMs),
          authorId: userId,
          createdAt: now,
          createdBy: `user:${userId}`,
          idempotency: { key: mark, hash: mark },
        },
        transaction,
      )
      return after ? posts.update(row, after(now), transaction) : row
    })
  const [head, ...others] = demoPosts
  const first = present.get(head.mark) ?? (await write(head, null))
  const ids = [first.id]
  for (const post of others) ids.push((present.get(post.mark) ?? (await write(post, post.inThread ? first.threadId : null))).id)
  return { brandId, threadId: first.threadId, postIds: ids }
}

async function provideBrand({ brands, clock }: Room, { organizationId, userId }: DemoOwner): Promise<string> {
  const present = await brands.lists.all.pages([organizationId], { first: 100, limit: 100, after: null })
  const known = present.get(organizationId)?.find(brand => brand.name === brandName)
  if (known) return known.id
  const now = clock.now()
  const id = newId(now)
  await brands.create({ id, organizationId, name: brandName, createdAt: now, updatedAt: now, createdBy: `user:${userId}` })
  return id
}

/**
 * Connects the demo brand through the sandbox's own OAuth flow, as a person would, if it is not connected. Elsewhere people connect by hand.
 * @throws what the network answers otherwise than expected
 */
export async function connectDemo(
  room: Room,
  { brandId, userId, sandbox, outbound }: { brandId: string; userId: string; sandbox: string; outbound: Outbound },
) {
  const { networks, connections, sequelize, publicUrl, clock } = room
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
  await sequelize.transaction(transaction => connections.authorize({ brandId, platform: 'X', userId, account, grant, now: clock.now() }, transaction))
}

/** What goes of publishing with organizations, beside what belongs to these. */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  const brands = await run<{ id: string }>('select id::text from publishing.brands where organization_id::text = any($1::text[])', [organizations])
  const ids = brands.map(({ id }) => id)
  const [jobs] = await run<{ there: boolean }>(`select to_regclass('publishing_jobs.job') is not null as there`)
  const waiting = { sql: `delete from publishing_jobs.job where data->>'brandId' = any($1::text[])`, bind: [ids] }
  return [...(jobs!.there ? [waiting] : []), ...(await deletionsBy(run, 'brand_id', ids))]
}

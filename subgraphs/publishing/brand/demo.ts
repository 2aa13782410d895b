import { idOfName } from '../../../platform/ids.ts'
import { type WriteTransaction, writeFacts } from '../../store/books.ts'
import { type Deletion, deletionsBy, type Run } from '../../store/removal.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { failure } from '../delivery/failure.ts'
import { forms } from '../media/keep.ts'
import { factsOf } from '../news/announce.ts'
import type { BrandRow } from '../stores/brand.ts'
import { canOutliveBrands, doomOfBrands, mediaObjects } from '../stores/media/object.ts'
import type { PostRow } from '../stores/post.ts'

const brandName = 'Demo Brand'
/** The demo brand whose posts need approval. */
const studioName = 'Demo Studio'

interface DemoPost {
  /** Seed of the post's id, by which the next start finds the post again even after changes. */
  readonly mark: string
  readonly copy: string
  /** Whether the post follows the first one in a thread. @default false */
  readonly inThread?: boolean
  /** Scheduled time, in days after the first post's; without one the post is a draft, or in the state of `after`. */
  readonly afterDays?: number
  /** Returns the state after the post's delivery. */
  after?(now: Date): Partial<PostRow>
}

/** Days between now and the demo's scheduled times, so that nothing is sent while people look around. */
const daysAhead = 60
const dayMs = 86_400_000

/** Demo posts: the thread in its order, then the others. */
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

/** Owner of the demo data. */
export interface DemoOwner {
  readonly organizationId: string
  readonly userId: string
}

/**
 * Creates missing demo data of the brand; of several starts at the same moment only one does. @param job in the owner's
 * name
 */
export const provideDemo = (job: Job, owner: DemoOwner): Promise<{ readonly brandId: string; readonly threadId: string; readonly postIds: string[] }> =>
  inTransaction(job, async unit => {
    const { posts } = job
    const { now, transaction } = unit
    const { userId } = owner
    const createdBy = `user:${userId}`
    const brandId = await provideBrand(job, owner, { name: brandName }, unit)
    await provideStudio(job, owner, unit)
    const older = await posts.withWords(
      brandId,
      createdBy,
      demoPosts.map(({ copy }) => copy),
      transaction,
    )
    const provide = async ({ mark, copy, afterDays, after }: DemoPost, threadId: string | null) => {
      const id = idOfName(brandId, mark)
      // Earlier versions used another id, so the post is recognized by its text.
      const known = (await posts.lock(id, transaction)) ?? older.find(post => post.copy === copy)
      if (known) return known
      const position = threadId ? await posts.placeIn(brandId, threadId, transaction) : 1
      const place = { brandId, threadId: threadId ?? id, position, platform: 'X' as const }
      const set = afterDays !== undefined
      const status = set ? ('SCHEDULED' as const) : ('DRAFT' as const)
      const scheduledAt = set ? new Date(now.getTime() + (daysAhead + afterDays) * dayMs) : null
      const stamps = { authorId: userId, createdAt: now, updatedAt: now, createdBy }
      const post = await posts.insert({ id, ...place, copy, status, scheduledAt, ...stamps, ...after?.(now) }, transaction)
      await writeFacts(job, factsOf(null, post, { organizationId: owner.organizationId, publicUrl: job.publicUrl }), unit)
      return post
    }
    const [head, ...others] = demoPosts
    const first = await provide(head, null)
    const ids = [first.id]
    for (const post of others) ids.push((await provide(post, post.inThread ? first.threadId : null)).id)
    await provideCampaign(job, { brandId, createdBy }, unit)
    return { brandId, threadId: first.threadId, postIds: ids }
  })

/** Creates the demo's campaign with two of its posts; an existing one is left alone. */
async function provideCampaign(
  { campaigns, posts }: Job,
  { brandId, createdBy }: { brandId: string; createdBy: string },
  { now, transaction }: WriteTransaction,
) {
  const id = idOfName(brandId, 'demo-campaign')
  if (await campaigns.lock(id, transaction)) return
  const day = (days: number) => new Date(now.getTime() + days * dayMs).toISOString().slice(0, 10)
  const words = { name: 'Spring launch', description: 'Everything that we say when it is out.', color: '#1e90ff' }
  const row = { brandId, id, ...words, startsOn: day(daysAhead), endsOn: day(daysAhead + 14), createdAt: now, updatedAt: now, createdBy }
  await campaigns.insert(row, transaction)
  for (const mark of ['demo-draft', 'demo-scheduled']) {
    const post = await posts.lock(idOfName(brandId, mark), transaction)
    if (post) await posts.update(post, { campaignId: id }, transaction)
  }
}

async function provideBrand(
  { brands }: Job,
  { organizationId, userId }: DemoOwner,
  brand: Pick<BrandRow, 'name'> & Partial<BrandRow>,
  { now, transaction }: WriteTransaction,
): Promise<string> {
  // A process that starts at the same moment waits here and finds everything.
  await brands.madeFor(organizationId, transaction)
  const id = idOfName(organizationId, brand.name)
  const { nodes } = await brands.page('all', organizationId, { first: 100 })
  const known = (await brands.find(id)) ?? nodes.find(({ name }) => name === brand.name)
  if (known) return known.id
  await brands.insert({ id, organizationId, createdAt: now, updatedAt: now, ...brand, createdBy: `user:${userId}` }, transaction)
  return id
}

/** Creates a brand whose posts need approval before they are sent, with a post that waits for approval. */
async function provideStudio(job: Job, owner: DemoOwner, unit: WriteTransaction): Promise<void> {
  const { posts } = job
  const { now, transaction } = unit
  // Created a moment later, so that the first brand of the list is the one that publishes.
  const brandId = await provideBrand(job, owner, { name: studioName, approvalMode: 'REQUIRED', createdAt: new Date(now.getTime() + 1) }, unit)
  const id = idOfName(brandId, 'demo-pending')
  if (await posts.lock(id, transaction)) return
  const place = { brandId, threadId: id, position: 1, platform: 'X' as const }
  const stamps = { authorId: owner.userId, createdAt: now, updatedAt: now, createdBy: `user:${owner.userId}` }
  const copy = 'A first look at the new season. Somebody has to approve this one.'
  const scheduledAt = new Date(now.getTime() + daysAhead * dayMs)
  const post = await posts.insert({ id, ...place, copy, status: 'SCHEDULED', approval: 'PENDING', scheduledAt, ...stamps }, transaction)
  await writeFacts(job, factsOf(null, post, { organizationId: owner.organizationId, publicUrl: job.publicUrl }), unit)
}

/**
 * Deletions of publishing's rows with an organization: everything of its brands. Stored media are removed in
 * publishing's next round.
 */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  const brands = await run<{ id: string }>('select id from publishing.brands where organization_id = any($1::uuid[])', [organizations])
  const ids = brands.map(({ id }) => id)
  const [jobs] = await run<{ there: boolean }>(`select to_regclass('publishing_jobs.job') is not null as there`)
  const waiting = { sql: `delete from publishing_jobs.job where data->>'brandId' = any($1::text[])`, bind: [ids] }
  const [stored] = await run<{ there: boolean }>(canOutliveBrands)
  const files = stored!.there ? [{ sql: doomOfBrands, bind: [ids, forms, new Date(0)] }] : []
  const ofBrands = (await deletionsBy(run, 'brand_id', ids)).filter(({ sql }) => files.length === 0 || !sql.includes(mediaObjects.name))
  return [...files, ...(jobs!.there ? [waiting] : []), ...ofBrands, ...(await deletionsBy(run, 'tenant_id', ids))]
}

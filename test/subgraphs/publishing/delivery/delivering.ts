import { expect, vi } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { deliver } from '../../../../subgraphs/publishing/delivery/deliver.ts'
import { sweeps } from '../../../../subgraphs/publishing/delivery/sweep.ts'
import type { ConnectionRow } from '../../../../subgraphs/publishing/stores/connection.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import type { PostRow } from '../../../../subgraphs/publishing/stores/post.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { StandIn } from '../../../kit/stand-in.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { post as postDocument, reschedulePost } from '../documents.ts'
import type { PostSeed } from '../post/seed.ts'

type Key = Pick<PostRow, 'brandId' | 'id'>

/** A post of a connected brand that is due in a minute, unless its seed says otherwise, and everything it needs. */
export async function scheduledPost(seed: PostSeed = {}) {
  const graph = await supergraph({ sandbox: true })
  const story = graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(60_000), ...seed })
  const seeded = await story
  /** The post as its owner sees it. */
  const read = async () => (await graph.execute(postDocument, { id: seeded.post.id }, { as: seeded.owner })).data().post
  return { graph, story, key: { brandId: seeded.post.brandId, postId: seeded.post.id }, read, ...seeded }
}

/** A post that is due now, and everything it needs. */
export async function duePost(seed: PostSeed = {}) {
  const world = await scheduledPost(seed)
  await world.graph.clock.advance(world.post.scheduledAt!.getTime() - world.graph.clock.now().getTime())
  return world
}

/** A post that is due now, for which the token has to be renewed first; whoever does waits until the test commits `holder`. */
export async function unrenewedPost() {
  const world = await scheduledPost()
  const { graph, owner, post, connection } = world
  await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(twoHours) } }, { as: owner })
  await graph.clock.advance(twoHours)
  const holder = await graph.database.sequelize.transaction()
  await graph.job.connections.lock(connection.id, holder)
  return { ...world, holder }
}

/** A post whose time has come, and whose call was answered with this fault of the network. */
export async function answeredPost(fault: Parameters<StandIn['arm']>[0], seed: PostSeed = {}) {
  const world = await duePost(seed)
  await world.graph.x.arm(fault)
  await wake(world.graph, world.post)
  return world
}

/** Leaves a post as a worker does that recorded its attempt and died: phase SENDING, until its time is over. */
export async function interrupt(
  { graph: { job, clock }, post, connection }: { readonly graph: Supergraph; readonly post: PostRow; readonly connection: ConnectionRow },
  { inReplyTo = null, forMs = sendMs }: { readonly inReplyTo?: string | null; readonly forMs?: number } = {},
): Promise<void> {
  const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
  const claim = { claimId: newId(clock.now()), claimUntil: clock.in(forMs) }
  await inTransaction(job, async ({ transaction }) => {
    await job.attempts.begin({ ...account, post, copy: post.copy, inReplyTo }, { now: clock.now(), transaction })
    await job.posts.update(post, { ...account, ...claim, deliveryPhase: 'SENDING', attempts: 1 }, transaction)
  })
}

/** Wakes delivery up for one post, as its job does, and once more when a renewal ended that the post waited for. */
export async function wake({ job }: Supergraph, { brandId, id }: Key): Promise<void> {
  const key = { brandId, postId: id }
  await deliver(job, key)
  if (await renewed(job)) await deliver(job, key)
}

/** One round of every sweep, and what it set off. */
export async function round({ job }: Supergraph): Promise<void> {
  const run = () => Promise.all(sweeps(() => job).map(sweep => sweep.run()))
  await run()
  if (await renewed(job)) await run()
}

/** Waits for the renewals that posts wait for; false when there are none. */
async function renewed({ afterRenewals }: Supergraph['job']): Promise<boolean> {
  if (!afterRenewals.size) return false
  await Promise.all(afterRenewals)
  return true
}

/** A post as it stands in the database. */
export const stored = async ({ job }: Supergraph, { id }: Key): Promise<PostRow> => (await job.posts.byId.load(id))!

export const storedConnection = async ({ job }: Supergraph, { id }: { id: string }) => (await job.connections.byId.load(id))!

/** Waits until a post is as described: for what other workers do meanwhile. */
export async function until(graph: Supergraph, post: Key, state: Partial<PostRow>): Promise<PostRow> {
  return vi.waitFor(
    async () => {
      const row = await stored(graph, post)
      expect(row).toMatchObject(state)
      return row
    },
    { timeout: 20_000, interval: 20 },
  )
}

/** The attempts of every post, the earliest first. */
export const attempts = (graph: Supergraph) =>
  graph.rows(`select number, outcome, refusal, detail, copy, in_reply_to, platform_post_id, reconciled, reconcile_at, started_at, finished_at, updated_at
    from publishing.attempts order by started_at, number`)

/** What was logged, from this level on: 40 warns, 50 tells of an error. */
export const logged = ({ log }: Supergraph, least = 50) => log.map(line => JSON.parse(line)).filter(({ level }) => level >= least)

/** The texts that the network has, oldest first. */
export const texts = async ({ x }: Supergraph): Promise<string[]> => (await x.published()).map(({ text }) => text)

/** How often the network was asked to renew a grant. */
export const renewals = ({ sent }: Supergraph): number => sent.filter(call => call.startsWith('POST /x/2/oauth2/token')).length

export const twoHours = 7_200_000

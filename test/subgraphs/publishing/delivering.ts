import { expect, vi } from 'vitest'
import { deliver } from '../../../subgraphs/publishing/delivery/deliver.ts'
import { sweeps } from '../../../subgraphs/publishing/delivery/sweep.ts'
import type { PostRow } from '../../../subgraphs/publishing/post/table.ts'
import type { Supergraph } from '../../kit/supergraph.ts'

type Key = Pick<PostRow, 'brandId' | 'id'>

/** Wakes delivery up for one post, as its job does, and once more when a renewal ended that the post waited for. */
export async function wake({ room }: Supergraph, { brandId, id }: Key): Promise<void> {
  const key = { brandId, postId: id }
  await deliver(room, key)
  if (await renewed(room)) await deliver(room, key)
}

/** One round of every sweep, and what it set off. */
export async function round({ room }: Supergraph): Promise<void> {
  const run = () => Promise.all(sweeps(() => room).map(sweep => sweep.run()))
  await run()
  if (await renewed(room)) await run()
}

/** Waits for the renewals that posts wait for; false when there are none. */
async function renewed({ afterRenewals }: Supergraph['room']): Promise<boolean> {
  if (!afterRenewals.size) return false
  await Promise.all(afterRenewals)
  return true
}

/** A post as it stands in the database. */
export const stored = async ({ room }: Supergraph, { id }: Key): Promise<PostRow> => (await room.posts.byIds([id]))[0]!

export const storedConnection = async ({ room }: Supergraph, { id }: { id: string }) => (await room.connections.byIds([id]))[0]!

/** Waits until a post is as described: for what other workers do meanwhile. */
export async function until(graph: Supergraph, post: Key, state: Partial<PostRow>): Promise<PostRow> {
  return vi.waitFor(
    async () => {
      const row = await stored(graph, post)
      expect(row).toMatchObject(state)
      return row
    },
    { timeout: 5_000, interval: 20 },
  )
}

/** The texts that the network has, oldest first. */
export const texts = async ({ x }: Supergraph): Promise<string[]> => (await x.published()).map(({ text }) => text)

/** How often the network was asked to renew a grant. */
export const renewals = ({ sent }: Supergraph): number => sent.filter(call => call.startsWith('POST /x/2/oauth2/token')).length

export const twoHours = 7_200_000

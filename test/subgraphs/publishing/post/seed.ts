import { newId } from '../../../../platform/ids.ts'
import type { PostRow } from '../../../../subgraphs/publishing/stores/post.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** What is to stand in a post's row; without anything it is a draft of its own. */
export type PostSeed = Partial<Pick<PostRow, 'copy' | 'platform' | 'scheduledAt' | 'target'>> & {
  readonly threadId?: string
  /** Who writes it. @default the owner */
  readonly by?: Viewer
  /** What is written over the row afterwards, to tell of a past that the test is not about. */
  readonly row?: Partial<PostRow>
}

/** A post, written by the mutation as somebody would, so that it has all that goes with one. */
export async function seedPost(
  { execute, job }: Pick<Supergraph, 'execute' | 'job'>,
  { brandId, owner }: { brandId: string; owner: Viewer },
  { by = owner, row, scheduledAt, copy = `A post ${newId().slice(-12)}`, ...rest }: PostSeed = {},
): Promise<PostRow> {
  const input = { brandId, platform: 'X', copy, ...rest, ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }) }
  const document = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
  const { id } = (await execute(document, { input }, { as: by })).data().createPost
  const made = await job.posts.byId.load(id)
  return row ? inTransaction(job, ({ transaction }) => job.posts.update(made!, row, transaction)) : made!
}

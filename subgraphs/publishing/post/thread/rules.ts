import { DomainError } from '../../../../platform/errors.ts'
import type { PostRow, PostStatus } from '../../stores/post.ts'
import { mostOfThread } from '../../stores/posts/thread.ts'

/**
 * Returns the status of a thread by its posts: published when all are, failed when one is, scheduled when one is, else
 * draft.
 */
export function statusOfThread(posts: readonly Pick<PostRow, 'status'>[]): PostStatus {
  if (posts.length > 0 && posts.every(({ status }) => status === 'PUBLISHED')) return 'PUBLISHED'
  return (['FAILED', 'SCHEDULED'] as const).find(wanted => posts.some(({ status }) => status === wanted)) ?? 'DRAFT'
}

/**
 * Checks how many posts a thread has, or is to have.
 * @throws BAD_USER_INPUT
 */
export function requireLength(count: number): void {
  if (count < 1 || count > mostOfThread)
    throw new DomainError('BAD_USER_INPUT', `A thread has 1 to ${mostOfThread} posts, and this one would have ${count}.`, { field: 'posts' })
}

/**
 * Checks that a thread takes another post.
 * @param position where it would stand
 * @throws BAD_USER_INPUT
 */
export function requireSpace(position: number): void {
  if (position > mostOfThread)
    throw new DomainError('BAD_USER_INPUT', `The thread has ${mostOfThread} posts, which is the limit: begin another one.`, { field: 'threadId' })
}

/**
 * Returns the posts of a thread in another order.
 * @param ids ids of all posts, each once
 * @throws BAD_USER_INPUT when ids are missing or unknown; CONFLICT when a post that is published or being sent would
 * change its position
 */
export function reordered<P extends Pick<PostRow, 'id' | 'status' | 'deliveryPhase'>>(posts: readonly P[], ids: readonly string[]): readonly P[] {
  const byId = new Map(posts.map(post => [post.id, post]))
  const wanted = ids.map(id => byId.get(id))
  if (ids.length !== posts.length || new Set(ids).size !== ids.length || wanted.includes(undefined))
    throw new DomainError('BAD_USER_INPUT', `postIds names all ${posts.length} posts of the thread, each once, in their new order.`, { field: 'postIds' })
  const order = wanted as P[]
  const moved = posts.find((post, place) => order[place] !== post && isFixed(post))
  if (moved) {
    const reason = moved.deliveryPhase === 'SENDING' ? 'SENDING' : moved.deliveryPhase === 'UNKNOWN' ? 'OUTCOME_UNKNOWN' : 'ILLEGAL_MOVE'
    const details = reason === 'ILLEGAL_MOVE' ? { reason, from: moved.status, verb: 'reorder', possible: [] } : { reason }
    throw new DomainError('CONFLICT', `Post ${moved.id} is published or on its way, and keeps its place: move the others behind it.`, {
      ...details,
      id: moved.id,
    })
  }
  return order
}

const isFixed = ({ status, deliveryPhase }: Pick<PostRow, 'status' | 'deliveryPhase'>): boolean =>
  status === 'PUBLISHED' || deliveryPhase === 'SENDING' || deliveryPhase === 'UNKNOWN'

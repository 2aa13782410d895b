import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reordered, requireLength, requireSpace, statusOfThread } from '../../../subgraphs/publishing/post/thread/rules.ts'
import type { DeliveryPhase, PostStatus } from '../../../subgraphs/publishing/stores/post.ts'
import { refusalOf } from '../refusal.ts'

const statuses: readonly PostStatus[] = ['DRAFT', 'SCHEDULED', 'FAILED', 'PUBLISHED']
const of = (...list: PostStatus[]) => statusOfThread(list.map(status => ({ status })))

describe('a thread', () => {
  test('is published when every post is, failed when one is, scheduled when one is, else a draft', () => {
    expect(of()).toBe('DRAFT')
    expect(of('PUBLISHED', 'PUBLISHED')).toBe('PUBLISHED')
    expect(of('PUBLISHED', 'SCHEDULED', 'FAILED')).toBe('FAILED')
    expect(of('DRAFT', 'SCHEDULED', 'PUBLISHED')).toBe('SCHEDULED')
    expect(of('PUBLISHED', 'DRAFT')).toBe('DRAFT')
  })

  test('has 1 to 25 posts', () => {
    for (const count of [1, 25]) {
      expect(() => requireLength(count)).not.toThrow()
      expect(() => requireSpace(count)).not.toThrow()
    }
    for (const count of [0, 26]) expect(refusalOf(() => requireLength(count)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'posts' })
    expect(refusalOf(() => requireSpace(26)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'threadId' })
  })

  test('in another order keeps its posts, and published or running ones keep their position', () => {
    const phases: readonly DeliveryPhase[] = ['NONE', 'CLAIMED', 'SENDING', 'UNKNOWN']
    const one = fc.record({ status: fc.constantFrom(...statuses), deliveryPhase: fc.constantFrom(...phases) })
    const thread = fc.array(one, { minLength: 1, maxLength: 8 }).chain(list => {
      const posts = list.map((post, at) => ({ ...post, id: String(at) }))
      return fc.record({
        posts: fc.constant(posts),
        ids: fc.shuffledSubarray(
          posts.map(({ id }) => id),
          { minLength: posts.length },
        ),
      })
    })
    fc.assert(
      fc.property(thread, ({ posts, ids }) => {
        const fixed = posts.filter(({ status, deliveryPhase }) => status === 'PUBLISHED' || deliveryPhase === 'SENDING' || deliveryPhase === 'UNKNOWN')
        const stays = fixed.every(post => ids[posts.indexOf(post)] === post.id)
        if (stays) expect(reordered(posts, ids).map(({ id }) => id)).toEqual(ids)
        else expect(refusalOf(() => reordered(posts, ids)).code).toBe('CONFLICT')
      }),
    )
  })

  test('refuses an order that omits a post, repeats one, or names another thread’s', () => {
    const posts = ['a', 'b'].map(id => ({ id, status: 'DRAFT' as const, deliveryPhase: 'NONE' as const }))
    for (const ids of [[], ['a'], ['a', 'a'], ['a', 'c'], ['a', 'b', 'b']])
      expect(refusalOf(() => reordered(posts, ids)).extensions).toEqual({ code: 'BAD_USER_INPUT', field: 'postIds' })
  })
})

import type { Events } from '../../platform/events.ts'
import { widgetTopic } from '../subgraph.ts'
import type { PostRow } from './stores/post.ts'

/** Topics of publishing. An event carries ids; whoever listens reads the row. */
export const postStatusTopic = (brandId: string): string => `publishing.post-status.${brandId}`

/**
 * Tells screens, after commit, that a post was written, changed or deleted: those who follow it, and the widget that counts it.
 * @param brand the post's brand, which names the organization whose widget it is
 */
export function announcePost(events: Events, brand: { organizationId: string }, post: Followed): void {
  announceStep(events, post)
  events.announce(widgetTopic('publishing', brand.organizationId), { app: 'publishing' })
}

type Followed = Pick<PostRow, 'id' | 'brandId' | 'threadId' | 'version' | 'deliveryPhase' | 'waits'>

/** Tells those who follow a post, after commit, that its delivery has come a step further: nothing that anybody counts has changed. */
export const announceStep = (events: Events, post: Followed): void => events.announce(postStatusTopic(post.brandId), ...eventOf(post))

/** What is announced of a post, and what tells that it was: not every step of a delivery is a version. */
const eventOf = (post: Followed) => [{ postId: post.id, threadId: post.threadId }, `${post.version} ${post.deliveryPhase} ${post.waits}`] as const

/** Has posts that somebody follows looked at again, for events may be lost between processes. */
export const lookAgainAtPosts = (events: Events, changedSince: (brandId: string, since: Date) => Promise<readonly Followed[]>): void =>
  events.lookAgain(postStatusTopic(''), async (brandId, since) =>
    (await changedSince(brandId, since)).map(post => {
      const [ids, mark] = eventOf(post)
      return { ids, mark }
    }),
  )

/** Tells screens, after commit, that a brand went out of use or came back: its organization's widget leaves archived ones out. */
export function announceBrand(events: Events, brand: { organizationId: string }): void {
  events.announce(widgetTopic('publishing', brand.organizationId), { app: 'publishing' })
}

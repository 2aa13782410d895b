import type { Events } from '../../platform/events.ts'
import { widgetTopic } from '../widget-topic.ts'

/** Topics of publishing. An event carries ids; whoever listens reads the row. */
export const postStatusTopic = (brandId: string): string => `publishing.post-status.${brandId}`

/** What changed: `status` also tells those who follow the post's status, `content` only what counts and shows it. */
export type PostChange = 'status' | 'content'

/**
 * Tells screens, after commit, that a post changed.
 * @param brand the post's brand, which names the organization whose widget counts it
 */
export function announcePost(events: Events, brand: { id: string; organizationId: string }, post: { id: string; threadId: string }, change: PostChange): void {
  if (change === 'status') events.announce(postStatusTopic(brand.id), { postId: post.id, threadId: post.threadId })
  events.announce(widgetTopic('publishing', brand.organizationId), { app: 'publishing' })
}

/** Tells screens, after commit, that a brand went out of use or came back: its organization's widget leaves archived ones out. */
export function announceBrand(events: Events, brand: { organizationId: string }): void {
  events.announce(widgetTopic('publishing', brand.organizationId), { app: 'publishing' })
}

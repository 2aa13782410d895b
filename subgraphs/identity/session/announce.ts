import type { Events } from '../../../platform/events.ts'

/** Returns the topic of changes of a person's roles, context or organizations: screens then read `viewer` again. */
export const viewerTopic = (userId: string): string => `viewer.${userId}`

/** Publishes, after the commit, that a person's rights have changed. */
export const announceViewer = (events: Events, userId: string): void => events.announce(viewerTopic(userId), { userId })

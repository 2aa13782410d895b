import type { Events } from '../../../platform/events.ts'

/** The topic on which a person's screens are told that roles, context or organizations have changed: they ask `viewer` again. */
export const viewerTopic = (userId: string): string => `viewer.${userId}`

/** Tells a person's screens, after commit, that what they may do is not what it was. */
export const announceViewer = (events: Events, userId: string): void => events.announce(viewerTopic(userId), { userId })

import type { Events } from '../../../../platform/events.ts'
import type { ConversationMessageRow } from '../../stores/talk/message.ts'

/** The topic on which changes of an organization's conversations are announced. */
export const conversationTopic = (organizationId: string): string => `agents.conversation.${organizationId}`

type Announced = Pick<ConversationMessageRow, 'id' | 'conversationId' | 'organizationId' | 'version'>

const idsOf = ({ id, conversationId }: Announced) => ({ conversationId, messageId: id })

/** Announces, after the commit, that a message was written or has grown. */
export const announceMessage = (events: Events, message: Announced): void =>
  events.announce(conversationTopic(message.organizationId), idsOf(message), message.version)

/** Has what somebody follows read again, for events may be lost between processes. */
export const resyncMessages = (events: Events, changedSince: (organizationId: string, since: Date) => Promise<readonly Announced[]>): void =>
  events.resync(conversationTopic(''), async (organizationId, since) =>
    (await changedSince(organizationId, since)).map(message => ({ ids: idsOf(message), mark: message.version })),
  )

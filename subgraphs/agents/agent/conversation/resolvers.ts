import { mapEvents } from '../../../../platform/events.ts'
import { newIdInTurn, requireName, requireText } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { create } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { requireReleased } from '../../engines/run/kill-switch.ts'
import { announceMessage, conversationTopic } from '../../engines/talk/announce.ts'
import type { CreateConversationInput, Resolvers, SendMessageInput } from '../../resolvers.generated.ts'
import type { ConversationRow } from '../../stores/talk/conversation.ts'
import type { ConversationMessageRow } from '../../stores/talk/message.ts'
import { beginWith } from '../../workflow/begin-with.ts'
import { limits, requireActive } from './rules.ts'
import { stopReply } from './stop.ts'

async function createConversation(context: Context, input: CreateConversationInput): Promise<ConversationRow> {
  const { viewer, agents, conversations } = context
  const organizationId = activeOrganization(viewer, 'Conversations')
  const agent = await agents.require(input.agentId, 'agentId')
  const title = typeof input.title === 'string' ? requireName(input.title, 'title', limits.title) : agent.name
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: conversations,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      requireActive(agent)
      const written = await conversations.madeBy(createdBy, now, limits.conversationsADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: limits.conversationsADay }, 'conversations that you began', 'wait', now)
      return { id, organizationId, agentId: agent.id, title, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id, agentId }) => ({ tenantId: organizationId, action: 'conversation.created', subjectId: id, details: { agentId } }),
  })
  return row
}

/** Writes down what somebody says, and has the reply written. */
async function sendMessage(context: Context, input: SendMessageInput): Promise<ConversationMessageRow> {
  const { viewer, conversations, conversationMessages: messages, events, replies } = context
  const conversation = await conversations.require(input.conversationId, 'conversationId')
  const { id: conversationId, organizationId, agentId } = conversation
  const text = requireText(input.text, 'text', limits.text)
  const agent = await context.jobFor('conversations').agents.byId.load(agentId)
  const createdBy = actorOf(viewer)
  let reply: ConversationMessageRow | undefined
  const { row } = await create(context, {
    of: messages,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      requireActive(agent!)
      await requireReleased(context, organizationId, agentId, transaction)
      const written = await messages.madeBy(createdBy, now, limits.messagesADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: limits.messagesADay }, 'messages that you sent', 'wait', now)
      return { id, conversationId, organizationId, role: 'USER' as const, text, status: 'COMPLETE' as const, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'message.sent', subjectId: id, details: { conversationId } }),
    async wake(said, { transaction, now }) {
      // The reply follows what it answers also where both are of one millisecond.
      const at = new Date(said.createdAt.getTime() + 1)
      const place = { id: newIdInTurn(at, 1), conversationId, organizationId, role: 'AGENT', text: '', status: 'STREAMING' } as const
      const stamps = { createdAt: at, updatedAt: now, createdBy: `agent:${agentId}` }
      reply = await messages.insert({ ...place, answersId: said.id, userId: personOf(createdBy), wakeAt: now, ...stamps }, transaction)
    },
    announce(said) {
      announceMessage(events, said)
      announceMessage(events, reply!)
      replies.soon()
    },
  })
  return row
}

export const conversationResolvers: Resolvers = {
  Query: {
    conversation: (_, { id }, { conversations }) => conversations.require(id),
    conversations(_, page, { viewer, conversations }) {
      activeOrganization(viewer, 'Conversations')
      return conversations.filtered({}, page)
    },
  },
  Mutation: {
    createConversation: (_, { input }, context) => createConversation(context, input),
    sendMessage: (_, { input }, context) => sendMessage(context, input),
    stopReply: (_, { input }, context) => stopReply(context, input),
  },
  Subscription: {
    conversationMessageUpdated: {
      async subscribe(_, { conversationId }, context) {
        const { id, organizationId } = await context.conversations.require(conversationId, 'conversationId')
        const changes = mapEvents(context.events.listen([conversationTopic(organizationId)]), ({ conversationId: of, messageId }) =>
          of === id && messageId ? { messageId } : undefined,
        )
        const last = await context.conversationMessages.lastOf(id)
        return beginWith(last ? [{ messageId: last.id }] : [], changes)
      },
      // Read at each event, with the viewer's right to the conversation as it is then.
      resolve: ({ messageId }: { messageId: string }, _: unknown, { conversationMessages }: Context) => conversationMessages.byId.load(messageId),
    },
  },
  Conversation: {
    __resolveReference: ({ id }, { conversations }) => conversations.byId.load(id),
    agent: ({ agentId }, _, { agents }) => agents.find(agentId),
    messages: ({ id }, page, { conversationMessages }) => conversationMessages.page('ofConversation', id, page),
    createdBy({ createdBy }) {
      const id = personOf(createdBy)
      return id === null ? null : { __typename: 'User', id }
    },
  },
  ConversationMessage: {
    __resolveReference: ({ id }, { conversationMessages }) => conversationMessages.byId.load(id),
    failure: ({ status, failureCode, failureMessage }) => (status === 'FAILED' ? { code: failureCode!, message: failureMessage! } : null),
    run: ({ runId }, _, { runs }) => runs.find(runId),
    async sources({ hits }, _, { documents }) {
      const found = await Promise.all(hits.map(async ({ documentId, ...hit }) => ({ ...hit, document: await documents.byId.load(documentId) })))
      return found.filter(({ document }) => document !== null)
    },
  },
}

import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, change, constant, type Fresh, type Ids, row, writers } from '../../../access/row.ts'
import { seedConversation } from './seed.ts'

const read: readonly Scope[] = ['agents:agents.read']
const write: readonly Scope[] = ['agents:agents.write']
const invoke: readonly Scope[] = ['agents:runs.invoke']
const conversation = (selection: string) => (ids: Ids) => `{ conversation(id: "${ids.conversation}") { ${selection} } }`
const fresh =
  (what: 'id' | 'agentId' | 'replyId'): Fresh =>
  async ({ graph, owner }) =>
    (await seedConversation(graph, { organizationId: owner.organizationId!, userId: owner.userId! }))[what]

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedConversation(graph, { organizationId: outsider.organizationId!, userId: outsider.userId! })
    return { conversation: (await seedConversation(graph, { organizationId: owner.organizationId!, userId: owner.userId! })).id }
  },
  fields: [
    row('Query.conversation', invoke, write, byScope, conversation('id'), 'conversation'),
    row('Query.conversations', invoke, write, byScopeEachTheirOwn, constant('{ conversations { nodes { id } } }'), 'conversations'),
    row('Conversation.agent', read, invoke, byScope, conversation('agent { id }'), 'conversation.agent'),
    row('Conversation.messages', invoke, write, byScope, conversation('messages { nodes { id } }'), 'conversation.messages'),
    row('Conversation.createdBy', invoke, write, byScope, conversation('createdBy { id }'), 'conversation.createdBy'),
    row('ConversationMessage.run', invoke, write, byScope, conversation('messages { nodes { run { id } } }'), 'conversation.messages.nodes.run'),
    row(
      'Mutation.createConversation',
      invoke,
      read,
      writers,
      change('createConversation', ({ fresh }) => `agentId: "${fresh}"`, 'id'),
      'createConversation',
      fresh('agentId'),
    ),
    row(
      'Mutation.sendMessage',
      invoke,
      read,
      writers,
      change('sendMessage', ({ fresh }) => `conversationId: "${fresh}", text: "Hello"`, 'id'),
      'sendMessage',
      fresh('id'),
    ),
    row(
      'Mutation.stopReply',
      invoke,
      read,
      writers,
      change('stopReply', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'stopReply',
      fresh('replyId'),
    ),
    row(
      'Subscription.conversationMessageUpdated',
      invoke,
      write,
      byScope,
      ids => `subscription { conversationMessageUpdated(conversationId: "${ids.conversation}") { id } }`,
      'conversationMessageUpdated',
    ),
  ],
}

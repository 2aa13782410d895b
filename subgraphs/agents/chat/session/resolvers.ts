import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'

export const chatSessionResolvers: Resolvers = {
  Query: {
    chatSession: (_, { id }, { chatSessions }) => chatSessions.require(id),
    chatSessions(_, page, { viewer, chatSessions }) {
      activeOrganization(viewer, 'Sessions of the public chat')
      return chatSessions.filtered({}, page)
    },
  },
  ChatSession: {
    __resolveReference: ({ id }, { chatSessions }) => chatSessions.byId.load(id),
    turns: ({ id }, _, { chatTurns }) => chatTurns.manyBy('sessionId').load(id),
  },
}

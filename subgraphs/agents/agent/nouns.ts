import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { endBudgetWarnings } from '../engines/model/spend.ts'
import { resyncMessages } from '../engines/talk/announce.ts'
import { agingOfReservedCalls } from '../stores/reserved-call.ts'
import { conversationResolvers } from './conversation/resolvers.ts'
import { agentResolvers } from './resolvers.ts'

/** Agents, and what people say to them. */
export const agentNouns: Readonly<Record<string, Noun<At>>> = {
  agent: {
    resolvers: agentResolvers,
    retention: () => [agingOfReservedCalls],
    sweeps: ({ job }) => [{ name: 'warnings of agent budgets', everyMs: 3_600_000, run: () => endBudgetWarnings(job('budgets')) }],
  },
  conversation: {
    resolvers: conversationResolvers,
    sweeps: ({ services: { replies } }) => [replies.sweep],
    stop: async ({ services: { replies } }) => replies.stop(),
    resync: ({ services: { events }, job }) =>
      resyncMessages(events, (organizationId, since) => job('events').conversationMessages.changedSince(organizationId, since)),
  },
}

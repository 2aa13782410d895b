import { agingOfRates } from '../../../platform/sql/rates.ts'
import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { publicChatHandlers } from './public/handler.ts'
import { chatSessionResolvers } from './session/resolvers.ts'
import { chatSiteResolvers } from './site/resolvers.ts'

/** For how many days what visitors said is kept. */
const keptDays = 30

/** The chat that organizations offer to everybody. */
export const chatNouns: Readonly<Record<string, Noun<At>>> = {
  'chat-site': { resolvers: chatSiteResolvers },
  'chat-session': {
    resolvers: chatSessionResolvers,
    retention: () => [
      { table: 'agents.chat_sessions', days: keptDays, old: 'o.last_turn_at < $1', order: 'o.last_turn_at' },
      { table: 'agents.chat_turns', days: keptDays, old: 'o.at < $1', order: 'o.at' },
      agingOfRates('agents.chat_rates'),
    ],
  },
  'public-chat': {
    handlers: ({ services: { gate }, settings, job }) => publicChatHandlers({ gate, site: settings.publicChat.site, job: () => job('public chat') }),
  },
}

import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { actionItemResolvers } from './resolvers.ts'
import { resyncItems } from './rules.ts'

/** Items that wait for somebody, in any app. */
export const actionItem: Noun<At> = {
  resolvers: actionItemResolvers,
  resync: ({ services: { events }, job }) => resyncItems(events, (place, since) => job('facts').actionItems.changedSince(place, since)),
}

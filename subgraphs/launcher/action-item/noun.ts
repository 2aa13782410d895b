import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { actionItemResolvers } from './resolvers.ts'
import { resyncItems } from './rules.ts'

/** Action items: tasks of any app that wait for people. */
export const actionItem: Noun<At> = {
  resolvers: actionItemResolvers,
  resync: ({ services: { events }, job }) => resyncItems(events, (place, since) => job('facts').actionItems.changedSince(place, since)),
}

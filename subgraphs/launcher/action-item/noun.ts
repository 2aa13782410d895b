import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { actionItemResolvers } from './resolvers.ts'
import { resyncItems } from './rules.ts'
import { endSnoozes } from './waking.ts'

/** Action items: tasks of any app that wait for people. */
export const actionItem: Noun<At> = {
  resolvers: actionItemResolvers,
  sweeps: ({ services: { snoozeAlarm }, job }) => [snoozeAlarm.sweep({ name: 'snoozed action items' }, () => endSnoozes(job('snoozes')))],
  resync: ({ services: { events }, job }) =>
    resyncItems(events, {
      items: (place, since) => job('facts').actionItems.changedSince(place, since),
      snoozes: (userId, organizationId, since) => job('facts').snoozes.changedSince(userId, organizationId, since),
    }),
}

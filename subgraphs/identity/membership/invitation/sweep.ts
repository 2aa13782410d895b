import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { step } from '../../../store/write.ts'
import type { Worker } from '../../context.ts'
import { statusAt } from '../../stores/invitation.ts'
import { closesAttention, opensAttention } from './rules.ts'

/** Interval in ms of the check of invitations, and maximum invitations in one round. */
const sweeping = { everyMs: 10_000, atOnce: 100 }

/**
 * Marks expired invitations, and opens attention items for people of their address, also after a later sign-up or
 * verification. It runs in the background, so that inviters do not learn whom an address belongs to. Any number of
 * processes may run it at the same time.
 */
export const invitationSweep = (open: () => Pick<Worker, 'invitations' | 'clock'> & Parameters<typeof step>[0], publicUrl: string): Sweep => ({
  name: 'invitations',
  everyMs: sweeping.everyMs,
  async run() {
    const job = open()
    const { invitations, clock } = job
    for (const id of await invitations.over(clock.now(), sweeping.atOnce))
      await step(job, {
        of: invitations,
        hold: id,
        decide: (invitation, { now }) =>
          invitation.status === 'pending' && statusAt(invitation, now) === 'expired' ? { changes: { status: 'expired' as const }, isNews: true } : null,
        facts: ({ after }) => [closesAttention(after.id)],
      })
    for (const { id, userId, organization } of await invitations.untold(clock.now(), sweeping.atOnce))
      await step(job, {
        of: invitations,
        hold: id,
        decide: (invitation, { now }) =>
          statusAt(invitation, now) === 'pending' && invitation.toldUserId === null ? { changes: { toldUserId: userId } } : null,
        facts: ({ after }) => [opensAttention(after, userId, organization, publicUrl)],
      })
  },
})

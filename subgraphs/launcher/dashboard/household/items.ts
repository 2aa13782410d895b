import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction, Writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import { changeItem, openItem } from '../../action-item/items.ts'
import { resolving } from '../../action-item/rules.ts'
import type { Context } from '../../context.ts'
import type { ItemWriting } from '../../engines/notify/notify.ts'
import { personWith } from '../../engines/people/people.ts'
import { severalAtATime } from '../../engines/several.ts'
import { registration } from '../../registration.ts'
import type { HouseholdInvitationRow } from '../../stores/dashboard/household.ts'
import { invitationItem, isOpen } from './rules.ts'

/** Maximum invitations of one run, and of those how many are settled at a time: identity may be slow with one of them. */
const [atOnce, together] = [50, 8]
/** How long an invitation is put off that could not be settled, and one whose address nobody has verified yet, in ms. */
const [pauseMs, unknownMs] = [60_000, 3_600_000]

/** What invitations are settled with. */
export interface InvitationWork extends Writing, ItemWriting {
  readonly householdInvitations: Context['householdInvitations']
  readonly ask: Ask
  readonly clock: Clock
  readonly log: Logger
  readonly dashboardUrl: string
}

const keyOf = ({ id }: Pick<HouseholdInvitationRow, 'id'>): string => `household_invitation:${id}`

/** Closes the action item of an invitation that nobody can answer any more. @returns a function that notifies its viewer */
export async function closeItem(
  context: ItemWriting,
  invitation: Pick<HouseholdInvitationRow, 'id'>,
  unit: WriteTransaction,
): Promise<(() => void) | undefined> {
  const present = await context.actionItems.lockKey(registration.slug, keyOf(invitation), unit.transaction)
  return present ? changeItem(context, present, resolving(present, unit.now), unit) : undefined
}

/**
 * Opens the action items of invitations whose address somebody has verified, and closes those of invitations that have expired. Whoever
 * invites waits for neither, and so does not learn whether the address is somebody's.
 * @returns when the next one is due; null without one
 */
export async function settleInvitations(job: InvitationWork): Promise<Date | null> {
  const { householdInvitations: invitations, clock, log } = job
  const now = clock.now()
  const next = await invitations.nextSettle()
  if (next === null || next > now) return next
  const due = await invitations.toSettle(now, atOnce)
  const settleOne = async (invitation: HouseholdInvitationRow): Promise<void> => {
    try {
      await settle(job, invitation)
    } catch (error) {
      log.warn({ err: error, invitationId: invitation.id }, 'action item of an invitation not settled; it is tried again')
      await invitations.postpone(invitation, new Date(now.getTime() + pauseMs))
    }
  }
  await severalAtATime(due, together, settleOne)
  return invitations.nextSettle()
}

async function settle(job: InvitationWork, { id, ...found }: HouseholdInvitationRow): Promise<void> {
  const { householdInvitations: invitations, clock } = job
  // Identity is asked before the row is locked, because waiting for it holds a connection.
  const userId = isOpen(found, clock.now()) ? await personWith(job.ask, found.email) : null
  let announce: (() => void) | undefined
  await write(job, {
    async run(unit) {
      const { now, transaction } = unit
      const row = await invitations.lockToSettle(id, now, transaction)
      if (!row) return null
      if (!isOpen(row, now)) {
        announce = await closeItem(job, row, unit)
        await invitations.settle(id, null, transaction)
      } else if (userId === null) {
        await invitations.settle(id, new Date(Math.min(now.getTime() + unknownMs, row.expiresAt.getTime())), transaction)
      } else {
        const present = await job.actionItems.lockKey(registration.slug, keyOf(row), transaction)
        if (!present) announce = await openItem(job, { from: registration.slug, key: keyOf(row), present }, invitationItem(row, userId, job.dashboardUrl), unit)
        await invitations.settle(id, row.expiresAt, transaction)
      }
      crash('launcher-invitation-settled')
      return row
    },
    announce: () => announce?.(),
  })
}

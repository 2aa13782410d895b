import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { ratesIn } from '../../../../platform/sql/rates.ts'
import { type WriteTransaction, writing } from '../../../store/books.ts'
import type { Context } from '../../context.ts'
import { ratesTable } from '../../engines/visitors/visitors.ts'

const hour = { windowMs: 3_600_000 } as const

/**
 * How many invitations are mailed within an hour: of one person, of one person to one address, and of everybody to one address. The last is more
 * than one person has, so that nobody uses up an address for all others.
 */
export const invitationLimits = { person: { max: 30, ...hour }, pair: { max: 10, ...hour }, address: { max: 40, ...hour } } as const

const take = ratesIn(ratesTable)

/**
 * Counts an invitation that is mailed, in the transaction that writes it: a household that is made, invites and is deleted
 * has no limit of its own.
 * @throws RATE_LIMITED
 */
export async function countInvitation({ [writing]: { sequelize } }: Context, userId: string, email: string, unit: WriteTransaction): Promise<void> {
  const address = createHash('sha256').update(email).digest('base64url')
  const rates = [
    { key: `household person ${userId}`, ...invitationLimits.person },
    { key: `household pair ${userId} ${address}`, ...invitationLimits.pair },
    { key: `household address ${address}`, ...invitationLimits.address },
  ]
  for (const rate of rates) {
    const waitMs = await take(sequelize, rate, unit.now, unit.transaction)
    if (waitMs === 0) continue
    const retryAfter = Math.ceil(waitMs / 1_000)
    throw new DomainError('RATE_LIMITED', `Too many invitations were mailed: try again in ${Math.ceil(retryAfter / 60)} minutes.`, { retryAfter })
  }
}

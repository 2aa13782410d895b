import type { Sweep } from '../../../platform/jobs/queue.ts'
import { step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { expiringMs } from '../network/account/account.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import { heldWithBrand, withHealth } from './health.ts'
import { canRenew, lengthenBeforeMs, lengthened } from './renew.ts'
import { usableToken } from './tokens.ts'

const dayMs = 86_400_000
/** How many connections one round looks after; the next comes in a minute. */
const atOnce = 50

/**
 * Looks after connections that nobody uses at the moment: access that lasts longer only when it is asked for in time is renewed daily, and
 * what only a person can renew is told a week before. The rows say what is to be done, so any number of processes may sweep.
 */
export const caring = (job: () => Job): Sweep => ({ name: 'connections to look after', everyMs: 60_000, asksOthers: true, run: () => care(job()) })

/** One round: all at once, for a network that is silent is not to hold up the others, nor the round. */
export async function care(job: Job): Promise<void> {
  const now = job.clock.now()
  const in_ = (ms: number) => new Date(now.getTime() + ms)
  const due = { now, expiring: in_(expiringMs), ending: in_(lengthenBeforeMs), checked: in_(-dayMs) }
  const found = await job.connections.due(due, atOnce)
  await Promise.all(
    found.map(row =>
      careFor(job, row).catch(error => job.log.warn({ err: error, connectionId: row.id, platform: row.platform }, 'checking a connection failed')),
    ),
  )
}

async function careFor(job: Job, row: ConnectionRow): Promise<void> {
  const now = job.clock.now()
  const isOver = row.reconnectBefore !== null && row.reconnectBefore <= now
  const network = job.networks.get(row.platform)
  await note(job, row)
  // An expired connection is tried once more: only the network's refusal disables it.
  if (network && (isOver || (lengthened.has(row.platform) && canRenew(row, now)))) await usableToken(job, network, row, job.connections.open(row).accessToken)
}

/** Writes how the connection does by now, and that it was looked at: a network that fails is asked again a day later. */
async function note(job: Job, row: ConnectionRow): Promise<void> {
  await step(job, {
    ...heldWithBrand(job, row),
    decide(held, { now }) {
      if (!held.active) return null
      const changes = withHealth(held, { lastCheckedAt: now }, now)
      return { changes, isNews: changes.health !== held.health }
    },
  })
}

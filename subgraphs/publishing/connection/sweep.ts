import type { Sweep } from '../../../platform/jobs/queue.ts'
import { step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { expiringMs } from '../network/account/account.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import { heldWithBrand, withHealth } from './health.ts'
import { canRenew, lengthenBeforeMs, lengthened } from './renew.ts'
import { usableToken } from './tokens.ts'

const dayMs = 86_400_000
/** Maximum connections handled in one round; the next round comes in a minute. */
const atOnce = 50

/**
 * Maintains connections that are not in use: access that can only be extended in time is renewed daily, and a week
 * before the end people are notified about access that only they can renew. The rows say what to do, so any number of
 * processes may run it.
 */
export const caring = (job: () => Job): Sweep => ({ name: 'connections to look after', everyMs: 60_000, asksOthers: true, run: () => care(job()) })

/**
 * Runs one round, with all connections in parallel, so that a silent network delays neither the others nor the round.
 */
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

/** Stores a connection's health, and that it was checked: a failing network is tried again a day later. */
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

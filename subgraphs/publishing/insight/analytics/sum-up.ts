import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { Clocks, SummedBrand } from '../../stores/insight/day-sums.ts'
import { clocksOf, daysFrom, daysOn } from './days.ts'

/** Interval in ms at which days are summed: until then readers sum the posts of changed days. */
const everyMs = 15_000
/** Maximum number of brands summed in one round. */
const atOnce = 500
/** Time in ms for which sums are trusted; then they are compared with the posts. */
const checkMs = 86_400_000

/** Whether a brand is summed by the clocks that hold. */
const holds = ({ by }: SummedBrand, { timeZone, zones }: Clocks) => by?.timeZone === timeZone && by.zones === zones

/**
 * Sums the changed days of a brand, or all of them when none are summed or the time zone's clocks have changed.
 * Idempotent, also when run concurrently.
 */
export const sumUp = (job: Job, brandId: string): Promise<void> =>
  inTransaction(job, async ({ now, transaction }) => {
    const { daySums } = job
    const brand = await daySums.hold(brandId, transaction)
    if (!brand) return
    const clocks = clocksOf(brand.timeZone)
    // Marks set while this runs stay: each statement handles what the former ones took, and may see more.
    const noted = await daySums.takeNoted(brandId, transaction)
    if (holds(brand, clocks)) {
      if (noted.length > 0) await daySums.sumUp(brandId, daysOn(clocks.timeZone, noted), transaction)
      return
    }
    const extent = await daySums.extent(brandId, transaction)
    await daySums.sumUpAll(brandId, extent ? daysFrom(clocks.timeZone, extent.first, extent.last) : [], clocks, now, transaction)
  })

/**
 * Compares the sums of a brand with its posts. Wrong ones are logged, counted, and summed again in the next round: they
 * show that a change bypassed the triggers, or that a program summed wrongly.
 * @returns number of wrong days
 */
export const checkSums = (job: Job, brandId: string): Promise<number> =>
  inTransaction(job, async ({ now, transaction }) => {
    const { daySums, log } = job
    const brand = await daySums.hold(brandId, transaction)
    // Sums under another time zone are invalid and recomputed.
    if (!brand || !holds(brand, clocksOf(brand.timeZone))) return 0
    const extent = await daySums.extent(brandId, transaction)
    const days = extent ? daysFrom(brand.timeZone, extent.first, extent.last) : []
    const wrong = await daySums.drift(brandId, days, now, transaction)
    if (wrong.length === 0) return 0
    log.error({ brandId, days: wrong.length, first: wrong[0], last: wrong.at(-1) }, 'daily sums differ from their posts and are recomputed')
    job.sumsThatDrifted.inc(wrong.length)
    await daySums.note(brandId, wrong, transaction)
    return wrong.length
  })

/** Maintains the sums of days, and compares one brand's with its posts each round, every brand once a day. */
export const daySumsSweep = (job: () => Job): Sweep => ({
  name: 'sums of days',
  everyMs,
  async run() {
    const opened = job()
    const { clock, daySums, log } = opened
    for (const { brandId } of await daySums.waiting(clocksOf('UTC').zones, atOnce))
      await sumUp(opened, brandId).catch(error => log.warn({ err: error, brandId }, 'daily sums of a brand could not be computed; the next round retries'))
    const brandId = await daySums.toCheck(new Date(clock.now().getTime() - checkMs))
    if (brandId) await checkSums(opened, brandId)
  },
})

import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { Alarm } from '../../engines/notify/alarm.ts'
import type { AnnouncementRow } from '../../stores/dashboard/announcement.ts'
import { announceAnnouncement } from './rules.ts'

/** How far a round looks ahead in ms, and the maximum of announcements of one round. */
const [aheadMs, atOnce] = [60_000, 200]

/**
 * Publishes each begin and end of an announcement once, whichever process finds it. A round also finds what begins or
 * ends soon, so that readers are notified in time.
 */
export function timesOfAnnouncements(alarm: Alarm, job: () => Job): Sweep {
  const pass = (looking: Job) =>
    write<readonly AnnouncementRow[]>(looking, {
      run: ({ transaction, now }) => looking.announcements.passDue(now, atOnce, transaction),
      announce(rows) {
        for (const row of rows) announceAnnouncement(looking.events, row, looking.clock.now())
      },
    })

  return alarm.sweep({ name: 'announcements that begin or end' }, async () => {
    const looking = job()
    const now = looking.clock.now()
    // Most rounds find nothing, and then need no transaction.
    const next = await looking.announcements.nextDue(new Date(now.getTime() + aheadMs))
    if (!next || next > now) return next
    // There may be more than one round takes.
    return (await pass(looking)).length > 0 ? now : null
  })
}

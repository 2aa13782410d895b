import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { AnnouncementRow } from '../../stores/dashboard/announcement.ts'
import { announceAnnouncement } from './rules.ts'

/** Interval in ms at which begins and ends are looked for: within it, each process knows those of the others. Maximum of one round. */
const [everyMs, atOnce] = [1_000, 200]

/**
 * Publishes each begin and end of an announcement once, whichever process finds it. A round also finds what begins or ends before the next one
 * and wakes the sweep at that moment, so that readers are notified in time.
 */
export function timesOfAnnouncements(job: () => Job): Sweep {
  let wake = (_ms?: number): void => {}

  const pass = (looking: Job) =>
    write<readonly AnnouncementRow[]>(looking, {
      run: ({ transaction, now }) => looking.announcements.passDue(now, atOnce, transaction),
      announce(rows) {
        for (const row of rows) announceAnnouncement(looking.events, row, looking.clock.now())
      },
    })

  return {
    name: 'announcements that begin or end',
    everyMs,
    wakes(given) {
      wake = given
    },
    async run() {
      const looking = job()
      const now = looking.clock.now().getTime()
      // Most rounds find nothing, and then need no transaction.
      const next = await looking.announcements.nextDue(new Date(now + everyMs))
      if (!next) return
      if (next.getTime() > now) return wake(next.getTime() - now)
      const passed = await pass(looking)
      if (passed.length > 0) wake()
    },
  }
}

import type { Room } from '../room.ts'
import { deliver } from './deliver.ts'
import { reconcile, takeUp } from './reconcile.ts'
import type { PostKey } from './store.ts'

/** How long a due post is left to its own wake-up before the sweep takes it, in ms. */
const graceMs = 2_000
/** How many of each kind one round takes; the next comes in 5 s. */
const atOnce = 20

/**
 * Finds what no wake-up will find: due posts whose job was lost, calls that a crash interrupted, unknown outcomes whose
 * turn it is. The rows alone say what is to be done, so any number of processes may sweep at the same time.
 */
export async function sweep(room: Room): Promise<void> {
  const now = room.clock.now()
  const [overdue, interrupted, unknown] = await Promise.all([
    room.deliveries.overdue(new Date(now.getTime() - graceMs), now, atOnce),
    room.deliveries.interrupted(now, atOnce),
    room.deliveries.unknown(now, atOnce),
  ])
  const each = (keys: readonly PostKey[], act: (room: Room, key: PostKey) => Promise<void>) =>
    keys.map(key =>
      act(room, key).catch(error => room.log.error({ err: error, postId: key.postId }, 'a post could not be taken up; the next round tries again')),
    )
  await Promise.all([...each(interrupted, takeUp), ...each(unknown, reconcile), ...each(overdue, deliver)])
}

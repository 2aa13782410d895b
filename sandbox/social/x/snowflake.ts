import type { Clock } from '../../../platform/clock.ts'
import type { Collection } from '../../state.ts'

const epoch = 1_288_834_974_657n // the first moment that these ids can tell, in Unix milliseconds

/**
 * Makes ids as X does: milliseconds since its epoch above 22 low bits, as a decimal string. Every id is larger than all
 * before it, also when the clock stands still or goes back, and across restarts.
 * https://docs.x.com/fundamentals/x-ids
 */
export function createSnowflakes(meta: Collection<string>, clock: Clock): () => string {
  return () => {
    const last = BigInt(meta.get('lastId') ?? '0')
    const fresh = (BigInt(clock.now().getTime()) - epoch) << 22n
    const id = String(fresh > last ? fresh : last + 1n)
    meta.set('lastId', id)
    return id
  }
}

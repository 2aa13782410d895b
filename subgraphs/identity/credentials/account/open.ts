import type { Jobs } from '../../../../platform/jobs/jobs.ts'
import type { Handlers } from '../../../http/handlers.ts'
import type { Limits } from '../../stores/credentials/limits.ts'
import type { AccountGround } from './ground.ts'
import { createHashing } from './hashing.ts'
import { invitedHandlers } from './invited.ts'
import { ownAccountHandlers } from './own.ts'
import { publicAccountHandlers } from './public.ts'
import { requestQueueName } from './requests.ts'

/** Limit on mails that a person sends to addresses of their choice within an hour. */
const addressed = { kind: 'addressed', most: 10, windowMs: 3_600_000 }

/**
 * Handlers of the account routes: creation, verification and changes. @param needs.jobs the runner with `requestQueue`
 */
export function accountHandlers(needs: Omit<AccountGround, 'hashing' | 'countAddress' | 'wake'> & { readonly jobs: Jobs; readonly limits: Limits }): Handlers {
  const ground: AccountGround = {
    ...needs,
    hashing: createHashing(),
    countAddress: async userId => (await needs.limits.take(addressed, userId, needs.clock.now())).waitMs,
    wake: (requestId, transaction) => needs.jobs.enqueue(requestQueueName, { requestId }, { transaction }),
  }
  return { ...publicAccountHandlers(ground), ...ownAccountHandlers(ground), ...invitedHandlers(ground) }
}

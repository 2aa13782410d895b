import type { Jobs } from '../../../../platform/jobs/jobs.ts'
import { createLimit } from '../../../../platform/limit.ts'
import type { Exchanges } from '../../../http/exchanges.ts'
import type { AccountGround } from './ground.ts'
import { createHashing } from './hashing.ts'
import { invitedExchanges } from './invited.ts'
import { ownAccountExchanges } from './own.ts'
import { publicAccountExchanges } from './public.ts'
import { requestQueueName } from './requests.ts'

/** How many mails a person has sent to addresses of its choice within an hour; counted by each process for itself. */
const addressesAnHour = 10

/** The rows of accounts: how they are made, proven, and changed. @param needs.jobs the runner with `requestQueue` */
export function accountExchanges(needs: Omit<AccountGround, 'hashing' | 'addressed' | 'wake'> & { readonly jobs: Jobs }): Exchanges {
  const ground: AccountGround = {
    ...needs,
    hashing: createHashing(),
    addressed: createLimit({ most: addressesAnHour, windowMs: 3_600_000 }),
    wake: (requestId, transaction) => needs.jobs.enqueue(requestQueueName, { requestId }, { transaction }),
  }
  return { ...publicAccountExchanges(ground), ...ownAccountExchanges(ground), ...invitedExchanges(ground) }
}

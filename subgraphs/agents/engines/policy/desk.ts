import type { Rounds } from '../page/rounds.ts'
import type { PolicyDesk } from '../run/work.ts'
import { closeRequest, requestPolicy } from './request.ts'
import type { PolicyWork } from './work.ts'

/**
 * Opens what runs ask the settlement and policy service by.
 * @param job    what requests are written with, created for each piece of work
 * @param rounds what calls the service in this process; null: there is none
 */
export const openDesk = (job: () => PolicyWork, rounds: Rounds | null): PolicyDesk => ({
  isConfigured: rounds !== null,
  request: (...asked) => requestPolicy(job(), ...asked),
  close: (...closed) => closeRequest(job(), ...closed),
  soon: () => rounds?.soon(),
})

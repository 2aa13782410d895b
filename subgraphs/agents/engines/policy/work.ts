import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Events } from '../../../../platform/events.ts'
import type { Writing } from '../../../store/books.ts'
import type { workFeedStore } from '../../stores/report.ts'
import type { policyRequestStore } from '../../stores/run/policy-request.ts'
import type { runStore } from '../../stores/run/run.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What decisions of the service are written with: everybody's rows. */
export interface PolicyWork extends Writing {
  readonly policyRequests: Opened<typeof policyRequestStore>
  readonly runs: Opened<typeof runStore>
  readonly workFeed: Opened<typeof workFeedStore>
  readonly runner: { soon(ms?: number): void }
  readonly clock: Clock
  readonly events: Events
  readonly log: Logger
}

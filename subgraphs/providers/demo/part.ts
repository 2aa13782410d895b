import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { MailServer } from '../../../platform/smtp/address.ts'
import type { Job } from '../context.ts'

/** Owner of the demo, and the addresses of the sandbox's third parties. */
export interface DemoPlace {
  readonly organizationId: string
  readonly userId: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  /** The sandbox's mail server; null if it plays none. */
  readonly mailServer?: MailServer | null
  /** Client for setting records in the sandbox's DNS. */
  readonly outbound?: Outbound
}

/**
 * Creates one noun's part of the demo where it is missing, and leaves existing data alone. @param job in the owner's
 * name
 */
export type DemoPart = (job: Job, place: DemoPlace) => Promise<void>

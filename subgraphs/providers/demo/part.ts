import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { MailServer } from '../../../platform/smtp/address.ts'
import type { Job } from '../context.ts'

/** Whose the demo is, and where the third parties are that are played for it. */
export interface DemoPlace {
  readonly organizationId: string
  readonly userId: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  /** Its mail server; null: it plays none. */
  readonly mailServer?: MailServer | null
  /** How the sandbox is told what DNS is to say. */
  readonly outbound?: Outbound
}

/** Makes one noun's part of the demo where it is missing, and leaves alone what is there. @param job in the owner's name */
export type DemoPart = (job: Job, place: DemoPlace) => Promise<void>

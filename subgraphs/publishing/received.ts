import type { Receives } from '../store/facts.ts'
import type { Job } from './context.ts'

/** What publishing does with the facts of others. */
export const received: Receives<'publishing', Job> = {
  // An organization begins without a brand.
  'organization.created': async () => {},
  'membership.removed': async () => {},
}

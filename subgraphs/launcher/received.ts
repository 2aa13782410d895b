import type { Receives } from '../store/facts.ts'
import type { Job } from './context.ts'

/** What the launcher does with the facts of others. */
export const received: Receives<'launcher', Job> = {
  // An organization begins with nothing that waits for somebody.
  'organization.created': async () => {},
  // Who sees what is asked of the viewer, each time.
  'membership.removed': async () => {},
  'attention.opened': async () => {},
  'attention.closed': async () => {},
  // Nobody is notified of anything yet.
  'order.paid': async () => {},
}

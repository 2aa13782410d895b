import type { Receives } from '../store/facts.ts'
import type { Job } from './context.ts'

/** What providers does with the facts of others. */
export const received: Receives<'providers', Job> = {
  // An organization begins without a credential of its own.
  'organization.created': async () => {},
  // A credential is the organization's, whoever of it brought it.
  'membership.removed': async () => {},
}

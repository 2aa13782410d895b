import type { Noun } from '../../wiring/define.ts'
import { invitationResolvers } from '../membership/invitation/resolvers.ts'
import { invitationSweep } from '../membership/invitation/sweep.ts'
import { membershipResolvers } from '../membership/resolvers.ts'
import type { At } from './services.ts'

/** Members of organizations, and invitations. */
export const membershipNouns: Readonly<Record<string, Noun<At>>> = {
  membership: { resolvers: membershipResolvers },
  'membership/invitation': {
    resolvers: invitationResolvers,
    sweeps: at => [invitationSweep(() => at.job('platform'), at.foundation.publicUrl)],
  },
}

import type { Base } from '../wiring/define.ts'
import { SubjectsRightsDocument } from './ask.generated.ts'
import type { Job, Services } from './context.ts'
import { openFetching } from './profile-source/fetch.ts'
import { type AgentsSettings, registration } from './registration.ts'

/** Makes what agents work with beside their stores. */
export function services({ foundation, settings, log, job }: Base<Job, AgentsSettings>): Services {
  const { ask, clock, callersWay } = foundation
  const { appId } = registration
  return {
    clock,
    log,
    outbound: callersWay.outbound,
    quotas: settings.quotas,
    fetching: openFetching(() => job('sources')),
    isMember: async (userId, organizationId, viewer) =>
      Boolean((await ask(SubjectsRightsDocument, { userId, organizationId }, { appId, viewer })).memberRights),
  }
}

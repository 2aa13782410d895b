import type { Base } from '../wiring/define.ts'
import { provision } from './administration/organization/provision.ts'
import { openAi } from './ai/open.ts'
import { SpendersRightsDocument } from './ask.generated.ts'
import type { Job, Services } from './context.ts'
import { noteUse } from './credential/note.ts'
import { type OpenEmail, openEmail } from './email/open.ts'
import { openModels } from './engines/models/in-use.ts'
import { openSpending, type Spending } from './engines/spend/open.ts'
import { openOrganizationsInUse } from './engines/spend/organizations.ts'
import { withPromptPolicy } from './engines/spend/prompts.ts'
import { openCredentialsInUse } from './engines/third-party/credentials.ts'
import { quotaTables } from './engines/video/table.ts'
import { createModelSyncs } from './model/sync/run.ts'
import { openClient } from './processor/stripe/client.ts'
import { type ProvidersSettings, registration } from './registration.ts'
import { createClientDirectory } from './stores/administration/clients.ts'
import { createPlatformOrganization } from './stores/credential/platform.ts'
import { readStanding } from './stores/model/standing.ts'

type ProvidersBase = Base<Job, ProvidersSettings>

/** The opened services, and the dependencies that only nouns use. */
export interface Opened extends Services {
  readonly spending: Spending
  readonly modelRuns: ReturnType<typeof createModelSyncs>
  readonly gateway: ReturnType<typeof openAi>
  readonly email: OpenEmail
}

/** Creates the gateway's services besides its stores. */
export function services(base: ProvidersBase): Opened {
  const { foundation, settings, log, job, jobs } = base
  const { ask, clock, events, outbound, callersWay, publicUrl, sequelize } = foundation
  const { quotas, prices, thirdParties, credentialServers } = settings
  const platformOrganization = createPlatformOrganization(sequelize)
  const platformMicros = quotas.platformCredentialsMicros
  const spending = openSpending(foundation, { prices, job: () => job('spend'), log, platformMicros, platformOrganization })
  const email = openEmail(foundation, settings.email, { job: () => job('email'), jobs, log })
  const clients = createClientDirectory({ sequelize, clock, log })
  const { credentialsInUse, organizationsInUse, models } = routing(base)
  const calls = withPromptPolicy(spending.calls, organizationsInUse, clock, sequelize)
  const gateway = openAi(foundation, {
    models,
    calls,
    credentials: credentialsInUse,
    clients,
    platformOrganization,
    addresses: thirdParties,
    times: settings.aiTimes,
    log,
  })
  return {
    clock,
    events,
    publicUrl,
    quotas,
    thirdParties,
    ...credentialServers,
    outbound,
    callersWay,
    credentialsInUse,
    platformOrganization,
    quotaTable: quotas.youtubeQuota ?? quotaTables[2026],
    models,
    modelRuns: createModelSyncs({ job: () => job('models'), outbound, addresses: thirdParties, credentials: credentialsInUse, clock, log }),
    clients,
    organizationsInUse,
    calls,
    spending,
    isMember: async (who, viewer) => Boolean((await ask(SpendersRightsDocument, who, { appId: registration.appId, viewer })).memberRights),
    processor: openClient(outbound, thirdParties.stripe),
    ai: gateway.ai,
    mailing: email.mailing,
    gateway,
    email,
  }
}

/**
 * Opens the services that choose who answers a call: credentials, rules of organizations, and models in their present
 * state.
 */
function routing({ foundation, job, log }: ProvidersBase) {
  const { clock, isAlone, sequelize } = foundation
  const credentialsInUse = openCredentialsInUse({
    credentials: () => job('use').credentials,
    write: noted => noteUse(job('use'), noted),
    clock,
    log,
    isAlone,
  })
  const organizationsInUse = openOrganizationsInUse(organizationId => provision(job('calls'), organizationId))
  const models = openModels({
    models: () => job('models').aiModels,
    preferences: () => job('models').modelPreferences,
    credentials: credentialsInUse,
    clock,
    readStanding: isAlone
      ? null
      : async (organizationId, names) => {
          const standing = await readStanding(sequelize, organizationId, names, clock.now())
          if (standing.rules) organizationsInUse.learn(organizationId, standing.rules)
          return standing
        },
  })
  return { credentialsInUse, organizationsInUse, models }
}

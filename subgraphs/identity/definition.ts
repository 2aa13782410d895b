import { inTransaction } from '../store/write.ts'
import type { Foundation } from '../subgraph.ts'
import { anonymous } from '../viewer.ts'
import { defineSubgraph, type Noun } from '../wiring/define.ts'
import { apiKeyResolvers } from './api-key/resolvers.ts'
import { auditResolvers } from './audit/resolvers.ts'
import { stores } from './context.ts'
import type { IdentitySettings } from './credentials/settings.ts'
import { credentialNouns, mail } from './nouns/credentials.ts'
import type { Identity } from './nouns/identity.ts'
import { membershipNouns } from './nouns/memberships.ts'
import { serviceEntry } from './nouns/service-entry.ts'
import { type At, services } from './nouns/services.ts'
import { sessionNouns } from './nouns/sessions.ts'
import { setup, setupOf } from './nouns/setup.ts'
import { organizationResolvers } from './organization/resolvers.ts'
import { registration } from './registration.ts'
import { registerServices } from './service-entry/register.ts'
import { nounsUnder } from './setup/foreign/closed.ts'
import { provision } from './setup/provision.ts'
import { auditRecording } from './stores/audit-entry.ts'
import { agingOf } from './stores/retention.ts'
import { userResolvers } from './user/resolvers.ts'
import { viewerResolvers } from './user/viewer/resolvers.ts'

const nouns: Readonly<Record<string, Noun<At>>> = {
  mail,
  user: { resolvers: userResolvers },
  organization: { resolvers: organizationResolvers },
  ...membershipNouns,
  'api-key': { resolvers: apiKeyResolvers },
  'service-entry': serviceEntry,
  'user/viewer': { resolvers: viewerResolvers },
  ...sessionNouns,
  audit: { resolvers: auditResolvers, retention: ({ settings }) => agingOf(settings.retention) },
  ...credentialNouns,
  setup,
}

/** Defines identity: people, their organizations, and the rights of their credentials. */
export function define(foundation: Foundation, settings: IdentitySettings): Identity {
  const { clock, environment, events, publicUrl } = foundation
  const own = nounsUnder(nouns, settings.foreignIssuer)
  const plan = { registration, stores, services, received: {}, nouns: own, slowPolling: true, keysOf: 'caller' as const, recording: () => auditRecording }
  const subgraph = defineSubgraph(foundation, settings, plan)
  const { credentials } = subgraph.at.services
  const job = () => subgraph.job('platform')
  return {
    ...subgraph,
    authority: credentials.authority,
    http: (request, viewer = anonymous) => subgraph.http!(request, viewer),
    registerServices(entries, addresses) {
      const built = entries.map(entry => ({ ...entry, mobileApps: settings.mobileBuilds[entry.slug] ?? entry.mobileApps }))
      return registerServices(job(), built, addresses, { environment, publicUrl, events, log: subgraph.at.log })
    },
    provision: world => provision(job(), world),
    openSetup: setupOf(subgraph.at).open,
    async rotateSigningKeys({ distrust = false } = {}) {
      const [context, key] = [job(), await credentials.newSigningKey(clock.now())]
      await inTransaction(context, unit => context.signingKeys.turn(key, distrust, unit))
    },
  }
}

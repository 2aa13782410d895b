import { openProvider } from '../../platform/outbound/challenge-provider.ts'
import { spentChallenges } from '../../platform/sql/spent.ts'
import type { Base } from '../wiring/define.ts'
import { OrganizationSlugDocument, SubjectsRightsDocument } from './ask.generated.ts'
import type { Job, Services } from './context.ts'
import { type GivenChallenges, openGate } from './engines/chat/gate.ts'
import { callToolOfStep, toolsOf } from './engines/connect/call.ts'
import { openConnect } from './engines/connect/connect.ts'
import { openEmbedder } from './engines/embed/embedder.ts'
import { openEmbedding } from './engines/embed/embedding.ts'
import { openIndexing } from './engines/knowledge/indexing.ts'
import { openModels } from './engines/model/models.ts'
import { callModel } from './engines/model/step.ts'
import { openAsking } from './engines/policy/asking.ts'
import { openDesk } from './engines/policy/desk.ts'
import { openRunner } from './engines/run/runner.ts'
import { openReplies } from './engines/talk/replies.ts'
import { openStops } from './engines/talk/stops.ts'
import { isReply, writeRound } from './engines/talk/with-tools.ts'
import { openFetching } from './profile/profile-source/fetch.ts'
import { type AgentsSettings, type ChallengeSettings, registration } from './registration.ts'

/** Makes what agents work with beside their stores. */
export function services({ foundation, settings, log, job }: Base<Job, AgentsSettings>): Services {
  const { ask, call, cipher, clock, callersWay, events, publicUrl } = foundation
  const { appId, asks } = registration
  const policyRounds = settings.policyService && openAsking(() => job('policy'), { settings: settings.policyService, outbound: foundation.outbound, publicUrl })
  const { challengeProvider } = settings.publicChat
  const spend = spentChallenges(foundation.sequelize, registration.slug)
  const givenBy = ({ provider, siteKey, ...at }: ChallengeSettings): GivenChallenges => {
    const report = (problem: string) => log.error({ provider, problem }, 'the provider of challenges refuses this platform: check CHALLENGE_SECRET')
    return { provider, siteKey, ...openProvider({ provider, ...at, outbound: foundation.outbound, spend, report }) }
  }
  const model = settings.embeddingModel
  const embedder = model === null ? null : openEmbedder({ ask, log }, { model, appId, scopes: asks })
  const embedding = embedder && openEmbedding(() => job('knowledge'), embedder)
  return {
    embedder,
    embedding,
    clock,
    events,
    log,
    publicUrl,
    runner: openRunner(() => job('runs')),
    jobFor: job,
    gate: openGate(settings.publicChat.challengeSecret, { cipher, spend, given: challengeProvider && givenBy(challengeProvider) }),
    async slugOf(organizationId) {
      const viewer = { userId: null, organizationId, roles: [], scopes: [], context: 'organization' as const }
      const { organization } = await ask(OrganizationSlugDocument, { id: organizationId }, { appId, viewer })
      return organization!.slug
    },
    policyRounds,
    policy: openDesk(() => job('policy'), policyRounds),
    replies: openReplies(() => job('replies')),
    stops: openStops(() => job('replies')),
    models: openModels({ ask, call }, appId, asks),
    call(calling) {
      if (calling.step.kind !== 'MODEL') return callToolOfStep(job('tools'), calling)
      return isReply(calling.run) ? writeRound(job('replies'), calling) : callModel(job('models'), calling)
    },
    toolsOf: (...of) => toolsOf(job('tools'), ...of),
    connect: openConnect({ ask, cipher, clock, way: settings.connectorsWay, outbound: foundation.outbound, developersUrl: settings.developersUrl }),
    outbound: callersWay.outbound,
    quotas: settings.quotas,
    reaches: callersWay.reaches,
    indexing: openIndexing(() => job('knowledge'), embedder && embedding && { model: embedder.model, rounds: embedding }),
    fetching: openFetching(() => job('sources')),
    isMember: async (userId, organizationId, viewer) =>
      Boolean((await ask(SubjectsRightsDocument, { userId, organizationId }, { appId, viewer })).memberRights),
  }
}

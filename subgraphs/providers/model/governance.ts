import { writing } from '../../store/books.ts'
import { isUnpriced } from '../engines/models/prices.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { platformReaders } from '../stores/credential/credential.ts'
import { lifecycleOf } from '../stores/model/model.ts'
import { shownPreferences } from './shown.ts'
import { shownSources } from './sync/shown.ts'

const thirtyDaysMs = 30 * 24 * 3_600_000

/** Governance of models: each part is read when it is selected. */
export const governanceResolvers: NonNullable<Resolvers['ModelGovernance']> = {
  platformDefaults: (_, __, context) => shownPreferences(context, null),
  async overrides({ organizationId }, _, { viewer, modelPreferences }) {
    const isEverybodys = viewer.kind === 'user' && viewer.roles.some(role => platformReaders.includes(role))
    if (!isEverybodys && organizationId === null) return []
    const found = await modelPreferences.overrides(isEverybodys ? null : organizationId)
    return found.map(override => ({
      capability: override.capability,
      model: override.model,
      level: 'ORGANIZATION' as const,
      organization: { __typename: 'Organization' as const, id: override.organizationId },
    }))
  },
  recentUsage: ({ organizationId }, _, context) =>
    organizationId === null ? [] : context.aiModels.usage(organizationId, new Date(context[writing].clock.now().getTime() - thirtyDaysMs)),
  async lifecycle(_, __, context) {
    const now = context[writing].clock.now()
    return (await context.aiModels.configured()).map(model => ({
      model: model.name,
      lifecycle: lifecycleOf(model, now),
      deprecatedAt: model.deprecatedAt,
      retiresAt: model.retiresAt,
      replacement: model.replacement,
    }))
  },
  unpricedModels: async (_, __, { aiModels }) => (await aiModels.configured()).filter(isUnpriced).map(({ name }) => name),
  candidateModels: (_, __, { aiModels }) => aiModels.candidates(),
  sources: async (_, __, { modelSyncs }) => shownSources(await modelSyncs.sources()),
}

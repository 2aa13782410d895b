import { writing } from '../../store/books.ts'
import { activeOrganization } from '../../viewer.ts'
import { requireNoService } from '../administration/caller.ts'
import { maxImagePrices } from '../engines/models/image-prices.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { lifecycleOf } from '../stores/model/model.ts'
import { setFallbackChain, setModelPreference } from './changes.ts'
import { governanceResolvers } from './governance.ts'
import { shownChains, shownPreferences } from './shown.ts'
import { sourcesOf } from './sync/shown.ts'

export const modelResolvers: Resolvers = {
  Query: {
    aiModels(_, { capability, lifecycle, ...page }, { viewer, aiModels }) {
      requireNoService(viewer)
      return aiModels.filtered({ capability, lifecycle }, page)
    },
    modelPreferences(_, __, context) {
      requireNoService(context.viewer)
      return shownPreferences(context, activeOrganization(context.viewer, 'Settings of models'))
    },
    fallbackChains(_, __, context) {
      requireNoService(context.viewer)
      return shownChains(context, activeOrganization(context.viewer, 'Settings of models'))
    },
    modelGovernance: (_, __, { viewer }) => ({ organizationId: viewer.organizationId }),
  },
  Mutation: {
    setModelPreference: (_, { input }, context) => setModelPreference(context, input),
    setFallbackChain: (_, { input }, context) => setFallbackChain(context, input),
    syncModels: (_, { input }, context) => context.modelRuns.run(context, input.sources ?? null, context.viewer.organizationId),
  },
  AiModel: {
    lifecycle: (model, _, context) => lifecycleOf(model, context[writing].clock.now()),
    imagePrices: ({ imagePrices }) => imagePrices.slice(0, maxImagePrices),
  },
  ModelGovernance: governanceResolvers,
  ModelSync: {
    sources: ({ sources }) => sourcesOf(sources),
  },
}

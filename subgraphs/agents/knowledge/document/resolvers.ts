import { DomainError } from '../../../../platform/errors.ts'
import { checkText } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import { limits, searchKnowledge } from '../../engines/knowledge/search.ts'
import type { Resolvers } from '../../resolvers.generated.ts'

export const documentResolvers: Resolvers = {
  Query: {
    document: (_, { id }, { documents }) => documents.require(id),
    searchKnowledge(_, { query, first }, context) {
      const organizationId = activeOrganization(context.viewer, 'Knowledge')
      if (checkText(query, 'query').length > limits.query)
        throw new DomainError('BAD_USER_INPUT', `query has ${query.length} characters: the maximum is ${limits.query}.`, { field: 'query' })
      if (first < 1 || first > limits.first) throw new DomainError('BAD_USER_INPUT', `first takes 1 to ${limits.first}.`, { field: 'first' })
      return searchKnowledge(context, { organizationId, query, first, forUser: context.viewer.userId })
    },
  },
  Document: {
    __resolveReference: ({ id }, { documents }) => documents.byId.load(id),
    source: ({ sourceId }, _, { knowledgeSources }) => knowledgeSources.byId.load(sourceId),
    text: async ({ id }, _, { documents }) => (await documents.texts.load(id)) ?? '',
  },
}

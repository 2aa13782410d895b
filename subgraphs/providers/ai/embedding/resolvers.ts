import { claimed } from '../../../store/claim.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { shownInGraph } from '../one-piece.ts'
import { askingOf } from '../wire/asking.ts'
import { renamed, wrong } from '../wire/fields.ts'
import { embedTexts } from './embed.ts'
import { readEmbeddingRequest } from './request.ts'

/** Maximum texts of one mutation: each vector is written out, number by number. */
export const mostTexts = 100

export const embeddingResolvers: Resolvers = {
  Mutation: {
    async createEmbeddings(_, { input }, context) {
      const { fallback, texts, idempotencyKey, ...given } = input
      if (texts.length > mostTexts) wrong('texts', `texts are 1 to ${mostTexts} here: ask POST /providers/api/ai/embeddings for more at once.`)
      const request = renamed({ input: 'texts' }, () => readEmbeddingRequest({ ...given, input: texts }))
      const asking = await askingOf(context, 'EMBEDDINGS', { fallback, signal: context.leaving })
      const claim = { what: 'list of embeddings', once: input, tenantId: asking.caller.organizationId }
      const made = await claimed(context, claim, () => embedTexts(context.ai, request, asking))
      return { ...shownInGraph(made), vectors: made.answer.vectors as readonly (readonly number[])[], inputTokens: made.answer.tokens }
    },
  },
}

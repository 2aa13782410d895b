import { claimed } from '../../../store/claim.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { shownInGraph } from '../one-piece.ts'
import { askingOf } from '../wire/asking.ts'
import { renamed } from '../wire/fields.ts'
import { drawImages } from './draw.ts'
import { readImageRequest } from './request.ts'

export const imageResolvers: Resolvers = {
  Mutation: {
    async createImages(_, { input }, context) {
      const { fallback, outputFormat, idempotencyKey, ...given } = input
      const request = renamed({ output_format: 'outputFormat' }, () => readImageRequest({ ...given, output_format: outputFormat }))
      const asking = await askingOf(context, 'IMAGES', { fallback, signal: context.leaving })
      const claim = { what: 'image generation', once: input, tenantId: asking.caller.organizationId }
      const made = await claimed(context, claim, () => drawImages(context.ai, request, asking))
      return { ...shownInGraph(made), images: made.answer.images.map(base64 => ({ base64 })) }
    },
  },
}

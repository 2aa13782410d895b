import type { Ai } from '../../engines/models/engine.ts'
import { readGiven } from '../wire/fields.ts'
import { wholeHandler } from '../wire/handler.ts'
import { embedTexts } from './embed.ts'
import { readEmbeddingRequest } from './request.ts'

/** Handles embeddings in OpenAI's protocol. */
export const embeddingHandler = (ai: Ai) =>
  wholeHandler(ai, {
    operation: 'EMBEDDINGS',
    read: async request => readEmbeddingRequest(await readGiven(request)),
    make: embedTexts,
    write: ({ answer: { vectors, tokens }, model }) => ({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: model.name,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    }),
  })

import type { Engine } from '../../stores/ai/engine.ts'
import { type Asking, jsonType, type Made, makeInOnePiece } from '../one-piece.ts'
import { bodyOfEmbeddings, type EmbeddingAnswer, type EmbeddingRequest, mostTokens, readEmbeddingAnswer } from './request.ts'

/** Vectors, and what they were counted as. */
export interface Embedded extends EmbeddingAnswer {
  readonly tokens: number
  /** As its provider counts it. */
  readonly told: number
}

/** Has texts made into vectors. @throws Refusal */
export function embedTexts(engine: Engine, request: EmbeddingRequest, asking: Asking): Promise<Made<Embedded>> {
  const most = mostTokens(request.input)
  return makeInOnePiece(engine, asking, {
    ...{ capability: 'EMBEDDING', operation: 'embeddings', named: request.model },
    prompt: typeof request.input[0] === 'string' ? request.input.join('\n') : null,
    bound: { inputBytes: most, maxOutputTokens: 0 },
    least: () => ({ inputTokens: Math.ceil(most / 4), outputTokens: 0, units: null }),
    path: '/embeddings',
    tooLong: 'The vectors of so many inputs are longer than an answer may be: send fewer at once, or ask for encoding_format base64.',
    body: ({ upstream }) => ({ type: jsonType, body: bodyOfEmbeddings(request, upstream) }),
    read(json) {
      const answer = readEmbeddingAnswer(json, request)
      // Who does not count is paid for what there can be.
      return answer && { ...answer, tokens: Math.min(answer.tokens ?? most, most), told: answer.tokens ?? most }
    },
    used: ({ told }) => ({ inputTokens: told, outputTokens: 0, units: null }),
  })
}

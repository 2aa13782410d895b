import type { AiModel } from '../../engines/models/candidates.ts'
import type { Engine } from '../../engines/models/engine.ts'
import { encodingOf } from '../counting/counter.ts'
import { sampleOf } from '../counting/sample.ts'
import { type Asking, jsonType, type Made, makeInOnePiece } from '../one-piece.ts'
import { bodyOfEmbeddings, type EmbeddingAnswer, type EmbeddingRequest, mostTokens, readEmbeddingAnswer } from './request.ts'

/** Vectors with the counted usage. */
export interface Embedded extends EmbeddingAnswer {
  readonly tokens: number
  /** Tokens as the provider counts them. */
  readonly reported: number
}

/** Computes embeddings of texts. @throws DomainError */
export function embedTexts(engine: Engine, request: EmbeddingRequest, asking: Asking): Promise<Made<Embedded>> {
  const most = mostTokens(request.input)
  const { input } = request
  const isText = (each: string | readonly number[]): each is string => typeof each === 'string'
  /** Counts the tokens of the inputs. */
  const counted = (model: AiModel): number | Promise<number> =>
    isText(input[0]!) ? engine.count(asking.caller.organizationId, encodingOf(model), sampleOf(input as readonly string[])) : most
  return makeInOnePiece(engine, asking, {
    ...{ capability: 'EMBEDDING', operation: 'embeddings', named: request.model },
    prompt: typeof request.input[0] === 'string' ? request.input.join('\n') : null,
    bound: { inputBytes: most, maxOutputTokens: 0 },
    least: async model => ({ inputTokens: await counted(model), outputTokens: 0, units: null }),
    path: '/embeddings',
    tooLong: 'The vectors of so many inputs are longer than an answer may be: send fewer at once, or ask for encoding_format base64.',
    body: ({ upstream }) => ({ type: jsonType, body: bodyOfEmbeddings(request, upstream) }),
    async read(json, model) {
      const answer = readEmbeddingAnswer(json, request)
      if (!answer) return null
      const reported = answer.tokens ?? (await counted(model))
      return { ...answer, tokens: Math.min(reported, most), reported }
    },
    used: ({ reported }) => ({ inputTokens: reported, outputTokens: 0, units: null }),
  })
}

import type { Clock } from '../../../../platform/clock.ts'
import type { Engine } from '../../stores/ai/engine.ts'
import { encodingOf } from '../counting/counter.ts'
import { sampleOf } from '../counting/sample.ts'
import { type Asking, jsonType, type Made, makeInOnePiece } from '../one-piece.ts'
import { bodyOfImages, type ImageAnswer, type ImageRequest, readImageAnswer } from './request.ts'

/** Has images drawn. @throws Refusal */
export const drawImages = (engine: Engine & { readonly clock: Clock }, request: ImageRequest, asking: Asking): Promise<Made<ImageAnswer>> =>
  makeInOnePiece(engine, asking, {
    ...{ capability: 'IMAGE', operation: 'images.generations', named: request.model, prompt: request.prompt },
    bound: { images: request.n },
    least: async model => ({
      inputTokens: await engine.count(asking.caller.organizationId, encodingOf(model), sampleOf([request.prompt])),
      outputTokens: 0,
      units: 0,
    }),
    path: '/images/generations',
    body: ({ upstream }) => ({ type: jsonType, body: bodyOfImages(request, upstream) }),
    read: json => readImageAnswer(json, request, engine.clock.now()),
    used: ({ images }) => ({ inputTokens: null, outputTokens: null, units: images.length }),
  })

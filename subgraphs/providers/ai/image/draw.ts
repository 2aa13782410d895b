import type { Clock } from '../../../../platform/clock.ts'
import type { Engine } from '../../engines/models/engine.ts'
import { encodingOf } from '../counting/counter.ts'
import { sampleOf } from '../counting/sample.ts'
import { type Asking, jsonType, type Made, makeInOnePiece } from '../one-piece.ts'
import { bodyOfImages, boundOfImages, type ImageAnswer, type ImageRequest, readImageAnswer, usageOfImages } from './request.ts'

/** Generates images. @throws DomainError */
export const drawImages = (engine: Engine & { readonly clock: Clock }, request: ImageRequest, asking: Asking): Promise<Made<ImageAnswer>> =>
  makeInOnePiece(engine, asking, {
    ...{ capability: 'IMAGE', operation: 'images.generations', named: request.model, prompt: request.prompt },
    bound: boundOfImages(request),
    least: async model => ({
      inputTokens: await engine.count(asking.caller.organizationId, encodingOf(model), sampleOf([request.prompt])),
      outputTokens: 0,
      units: 0,
    }),
    path: '/images/generations',
    body: model => ({ type: jsonType, body: bodyOfImages(request, model) }),
    read: json => readImageAnswer(json, request, engine.clock.now()),
    used: answer => usageOfImages(request, answer),
  })

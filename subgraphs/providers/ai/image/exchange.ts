import type { Ai } from '../../engines/models/engine.ts'
import { wholeExchange } from '../wire/exchange.ts'
import { readGiven } from '../wire/fields.ts'
import { drawImages } from './draw.ts'
import { readImageRequest } from './request.ts'

/** Handles images in OpenAI's protocol. */
export const imageExchange = (ai: Ai) =>
  wholeExchange(ai, {
    operation: 'IMAGES',
    read: async request => readImageRequest(await readGiven(request)),
    make: drawImages,
    write: ({ answer: { created, images, usage } }) => ({ created, data: images.map(each => ({ b64_json: each })), ...(usage && { usage }) }),
  })

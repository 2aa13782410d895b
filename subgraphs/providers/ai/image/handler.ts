import type { Ai } from '../../engines/models/engine.ts'
import { readGiven } from '../wire/fields.ts'
import { wholeHandler } from '../wire/handler.ts'
import { drawImages } from './draw.ts'
import { readImageRequest } from './request.ts'

/** Handles images in OpenAI's protocol. */
export const imageHandler = (ai: Ai) =>
  wholeHandler(ai, {
    operation: 'IMAGES',
    read: async request => readImageRequest(await readGiven(request)),
    make: drawImages,
    write: ({ answer: { created, images, usage } }) => ({ created, data: images.map(each => ({ b64_json: each })), ...(usage && { usage }) }),
  })

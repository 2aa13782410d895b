import { completionResolvers } from './completion/resolvers.ts'
import { embeddingResolvers } from './embedding/resolvers.ts'
import { imageResolvers } from './image/resolvers.ts'
import { transcriptionResolvers } from './transcription/resolvers.ts'

/** Calls to models in the graph. */
export const aiNouns = { completion: completionResolvers, embedding: embeddingResolvers, image: imageResolvers, transcription: transcriptionResolvers }

import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { documentResolvers } from './document/resolvers.ts'
import { knowledgeSourceResolvers } from './knowledge-source/resolvers.ts'
import { uploadHandlers } from './knowledge-source/upload.ts'

/** What agents answer from: sources, and their documents as they are searched. */
export const knowledgeNouns: Readonly<Record<string, Noun<At>>> = {
  'knowledge-source': {
    resolvers: knowledgeSourceResolvers,
    handlers: ({ contexts: { forRequest } }) => uploadHandlers(forRequest),
    sweeps: ({ services: { indexing, embedding } }) => [indexing.sweep, ...(embedding ? [embedding.sweep, embedding.catchUp] : [])],
    stop: async ({ services: { indexing, embedding } }) => void (await Promise.all([indexing.stop(), embedding?.stop()])),
  },
  document: { resolvers: documentResolvers },
}

import type { Handlers } from '../../http/handlers.ts'
import type { Noun } from '../../wiring/define.ts'
import { agingOfCallRates } from '../stores/ai/call-rates.ts'
import { completionResolvers } from './completion/resolvers.ts'
import { embeddingResolvers } from './embedding/resolvers.ts'
import { aiHandlers } from './handlers.ts'
import { imageResolvers } from './image/resolvers.ts'
import { transcriptionResolvers } from './transcription/resolvers.ts'

interface At {
  readonly services: { readonly gateway: { readonly exchanges: Handlers; readonly stop: () => void } }
}

/** Calls to models: in the graph, and over HTTP. */
export const aiNouns: Readonly<Record<string, Noun<At>>> = {
  completion: { resolvers: completionResolvers },
  embedding: { resolvers: embeddingResolvers },
  image: { resolvers: imageResolvers },
  transcription: { resolvers: transcriptionResolvers },
  gateway: {
    handlers: ({ services: { gateway } }) => ({ ...aiHandlers, ...gateway.exchanges }),
    retention: () => [agingOfCallRates],
    stop: async ({ services: { gateway } }) => gateway.stop(),
  },
}

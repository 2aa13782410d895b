import type { Logger } from 'pino'
import type { Viewer } from '../../viewer.ts'
import type { Noun } from '../../wiring/define.ts'
import type { Context } from '../context.ts'
import { videoQuotaAging } from '../stores/video/quota.ts'
import { videoHandlers } from './handler.ts'
import { videoResolvers } from './resolvers.ts'

interface At {
  readonly log: Logger
  readonly contexts: { forRequest(viewer: Viewer, request: Request): Context }
}

/** The video network, with its daily quota. */
export const video: Noun<At> = {
  resolvers: videoResolvers,
  retention: () => videoQuotaAging,
  handlers: ({ contexts, log }) => videoHandlers(contexts.forRequest, log),
}

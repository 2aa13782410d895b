import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { launchHandlers } from './handlers.ts'
import { launchResolvers } from './resolvers.ts'
import { workflowResolvers } from './workflow/resolvers.ts'

/** Launches of apps, the links that open native ones, and saved sequences of launches. */
export const launchNouns: Readonly<Record<string, Noun<At>>> = {
  launch: { resolvers: launchResolvers, handlers: launchHandlers },
  workflow: { resolvers: workflowResolvers },
}

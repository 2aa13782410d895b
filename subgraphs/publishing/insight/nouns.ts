import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { figuresSweep, followersSweep } from './analytics/collect.ts'
import { analyticsResolvers } from './analytics/resolvers.ts'
import { daySumsSweep } from './analytics/sum-up.ts'
import { dashboardResolvers } from './dashboard/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** Figures of posts from networks, and where they are shown. */
export const insightNouns: Readonly<Record<string, Noun<Base<Job, unknown>>>> = {
  widget: { resolvers: widgetResolvers },
  dashboard: { resolvers: dashboardResolvers },
  analytics: {
    resolvers: analyticsResolvers,
    sweeps: ({ job }) => [figuresSweep(() => job('figures')), followersSweep(() => job('figures')), daySumsSweep(() => job('figures'))],
  },
}

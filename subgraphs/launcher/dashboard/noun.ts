import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { dashboardResolvers } from './resolvers.ts'

/** Layouts of dashboards: a person's own, and what an organization begins with. */
export const dashboard: Noun<At> = { resolvers: dashboardResolvers }

import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { operatingWorkspaceResolvers } from './operating-workspace/resolvers.ts'
import { taskResolvers } from './task/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** What an organization's work is overseen by: workspace, kill switch, tasks, widget. */
export const workspaceNouns: Readonly<Record<string, Noun<At>>> = {
  'operating-workspace': { resolvers: operatingWorkspaceResolvers },
  task: { resolvers: taskResolvers },
  widget: { resolvers: widgetResolvers },
}

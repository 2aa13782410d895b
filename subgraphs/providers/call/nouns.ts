import type { Noun } from '../../wiring/define.ts'
import { callResolvers } from './resolvers.ts'
import { usageResolvers } from './usage/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** The log of calls, what was used by whom, and the widget that shows it. */
export const callNouns: Readonly<Record<string, Noun<object>>> = {
  call: { resolvers: callResolvers },
  usage: { resolvers: usageResolvers },
  widget: { resolvers: widgetResolvers },
}

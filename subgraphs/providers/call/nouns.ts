import type { Noun } from '../../wiring/define.ts'
import { callResolvers } from './resolvers.ts'
import { usageResolvers } from './usage/resolvers.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** The log of calls, usage, and the widget. */
export const callNouns: Readonly<Record<string, Noun<object>>> = {
  call: { resolvers: callResolvers },
  usage: { resolvers: usageResolvers },
  widget: { resolvers: widgetResolvers },
}

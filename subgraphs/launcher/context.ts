import type { Ask } from '../../platform/ask.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Running } from '../wiring/define.ts'
import { widgetStore } from './engines/widgets/widgets.ts'
import { actionItemStore } from './stores/action-item.ts'

/** What the launcher keeps and shows, each store under the name by which resolvers know it. */
export const stores = (ask: Ask) => ({
  actionItems: actionItemStore,
  widgets: widgetStore(ask),
})

/** What the launcher works with besides: made once in `definition.ts`, of its foundation. */
export type Services = Pick<Foundation, 'events' | 'log' | 'publicUrl'>

/** What resolvers receive: who asks, and what they may see. */
export type Context = ContextOf<ReturnType<typeof stores>, Services>

/** What facts are received with: everybody's rows. */
export type Job = JobContextOf<ReturnType<typeof stores>, Services>

/** The subgraph as its nouns find it. */
export type At = Running<ReturnType<typeof stores>, Services, undefined>

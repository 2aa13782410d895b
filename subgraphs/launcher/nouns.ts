import type { Ask } from '../../platform/ask.ts'
import { createLoader } from '../store/loader.ts'
import type { Foundation, Operation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import { visibleWidgets } from './widget/list.ts'
import { type Payload, shown } from './widget/sources.ts'
import type { WidgetRow } from './widget/table.ts'

/** What the launcher's resolvers receive. It keeps nothing of its own yet: what it shows is asked of the services. */
export interface Context extends Pick<Foundation, 'ask' | 'events' | 'log'> {
  readonly viewer: Viewer
  readonly requestId: string
  /** Asks which widgets the viewer may see, once for the operation. */
  readonly widgets: () => Promise<WidgetRow[]>
  /** Asks what the widget of an app shows, once for the operation. */
  readonly payloadOf: (app: string) => Promise<Payload | null>
}

export function openContext({ ask: asking, events, log }: Pick<Foundation, 'ask' | 'events' | 'log'>, viewer: Viewer, operation: Operation): Context {
  // Nobody waits for what is asked on behalf of somebody who left.
  const ask: Ask = (document, variables, as) => asking(document, variables, { ...as, signal: operation.signal })
  const widgets = createLoader<'all', WidgetRow[]>(operation, async () => [await visibleWidgets(ask, viewer)])
  const payloads = createLoader<string, Payload | null>(operation, apps => Promise.all(apps.map(app => shown(ask, viewer, app).catch(asError))))
  return { ask, events, log, viewer, requestId: operation.requestId, widgets: () => widgets.load('all'), payloadOf: app => payloads.load(app) }
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

import { isId } from '../../../platform/ids.ts'
import { widgetTopic } from '../../subgraph.ts'
import type { Context } from '../nouns.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { visibleWidgets } from './list.ts'
import { liveWidgets } from './live.ts'
import { shown, sources } from './sources.ts'
import type { WidgetRow } from './table.ts'

/** The topics on which the apps that show widgets tell of changes that this viewer sees. */
const topics = ({ viewer }: Context): string[] => (viewer.organizationId ? Object.keys(sources).map(slug => widgetTopic(slug, viewer.organizationId!)) : [])

export const widgetResolvers: Resolvers = {
  Query: {
    widgets: (_, __, { widgets }) => widgets(),
  },
  Subscription: {
    widgetUpdated: {
      subscribe: (_, __, context) =>
        liveWidgets({
          events: context.events.listen(topics(context)),
          // Not by the context's loaders: they answer what was true when the stream began.
          list: () => visibleWidgets(context.ask, context.viewer),
          read: ({ app }) => shown(context.ask, context.viewer, app),
          failed: error => context.log.warn({ err: error, requestId: context.requestId }, 'a widget could not be read'),
        }) as never,
      resolve: (widget: unknown) => widget as WidgetRow,
    },
  },
  Widget: {
    __resolveReference: async ({ id }, { widgets }) => (isId(id) ? ((await widgets()).find(widget => widget.id === id) ?? null) : null),
    payload: (widget, _, context) => (widget.payload === undefined ? context.payloadOf(widget.app) : widget.payload),
  },
}

import { isId } from '../../../platform/ids.ts'
import { widgetTopic } from '../../subgraph.ts'
import type { Context } from '../context.ts'
import { sources } from '../engines/widgets/sources.ts'
import type { WidgetRow } from '../engines/widgets/widgets.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { liveWidgets } from './live.ts'

/** The topics on which the apps that show widgets tell of changes that this viewer sees. */
const topics = ({ viewer }: Context): string[] => (viewer.organizationId ? Object.keys(sources).map(slug => widgetTopic(slug, viewer.organizationId!)) : [])

export const widgetResolvers: Resolvers = {
  Query: {
    widgets: (_, __, { widgets }) => widgets.visible(),
  },
  Subscription: {
    widgetUpdated: {
      subscribe: (_, __, context) =>
        liveWidgets({
          events: context.events.listen(topics(context)),
          // Read again each time: the operation's cached value dates from the start of the stream.
          list: context.widgets.list,
          read: ({ app }) => context.widgets.read(app),
          failed: error => context.log.warn({ err: error, requestId: context.requestId }, 'widget could not be read'),
        }) as never,
      resolve: (widget: unknown) => widget as WidgetRow,
    },
  },
  Widget: {
    __resolveReference: async ({ id }, { widgets }) => (isId(id) ? ((await widgets.visible()).find(widget => widget.id === id) ?? null) : null),
    payload: (widget, _, { widgets }) => (widget.payload === undefined ? widgets.payloadOf(widget.app) : widget.payload),
  },
}

import { isId } from '../../../platform/ids.ts'
import { widgetTopic } from '../../widget-topic.ts'
import type { Context } from '../context.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { visibleWidgets } from './list.ts'
import { liveWidgets } from './live.ts'
import { sources } from './sources.ts'
import type { WidgetRow } from './table.ts'

const read = ({ ask, viewer }: Context, { app }: WidgetRow) => sources[app]?.read(ask, viewer) ?? Promise.resolve(null)

/** The topics on which the apps that show widgets tell of changes that this viewer sees. */
const topics = ({ viewer }: Context): string[] => (viewer.organizationId ? Object.keys(sources).map(slug => widgetTopic(slug, viewer.organizationId!)) : [])

export const widgetResolvers: Resolvers = {
  Query: {
    widgets: (_, __, { ask, viewer }) => visibleWidgets(ask, viewer),
  },
  Subscription: {
    widgetUpdated: {
      subscribe: (_, __, context) =>
        liveWidgets({
          events: context.events.listen(topics(context)),
          list: () => visibleWidgets(context.ask, context.viewer),
          read: widget => read(context, widget),
          failed: error => context.log.warn({ err: error, requestId: context.requestId }, 'a widget could not be read'),
        }) as never,
      resolve: (widget: unknown) => widget as WidgetRow,
    },
  },
  Widget: {
    __resolveReference: async ({ id }, { ask, viewer }) => (isId(id) ? ((await visibleWidgets(ask, viewer)).find(widget => widget.id === id) ?? null) : null),
    payload: (widget, _, context) => (widget.payload === undefined ? read(context, widget) : widget.payload),
  },
}

import { DomainError } from '../../../platform/errors.ts'
import type { EventStream } from '../../../platform/events.ts'
import { isId } from '../../../platform/ids.ts'
import { widgetTopic } from '../../subgraph.ts'
import { isPerson } from '../../viewer.ts'
import { iconPath } from '../catalog/entry/rules.ts'
import { topicOf } from '../catalog/installation/rules.ts'
import type { Context } from '../context.ts'
import { ageSecondsOf } from '../engines/widgets/reading.ts'
import { sources } from '../engines/widgets/sources.ts'
import type { WidgetRow } from '../engines/widgets/widgets.ts'
import type { QueryWidgetsArgs, Resolvers } from '../resolvers.generated.ts'
import { ownerOf } from '../stores/installation.ts'
import { changeTopic } from './changes.ts'
import { liveWidgets } from './live.ts'

/** Returns the topics on which apps publish changes of this viewer's widgets, and installations theirs. */
function topics({ viewer }: Context): string[] {
  const { organizationId } = viewer
  const platform = organizationId ? Object.keys(sources).map(slug => widgetTopic(slug, organizationId)) : []
  const owner = isPerson(viewer) ? ownerOf(viewer) : null
  return owner ? [...platform, topicOf(owner), changeTopic(owner)] : platform
}

/** Maximum apps that a query names. */
export const maxApps = 50

/** Checks what a query names. @throws CONFLICT, reason CONTEXT; BAD_USER_INPUT for too many apps */
export function requireQuery({ viewer }: Pick<Context, 'viewer'>, { context, apps }: Partial<QueryWidgetsArgs>): void {
  if (context && context.toLowerCase() !== viewer.context)
    throw new DomainError('CONFLICT', `The active context is ${viewer.context}, not ${context.toLowerCase()}: switch to it first.`, { reason: 'CONTEXT' })
  if (apps && apps.length > maxApps) throw new DomainError('BAD_USER_INPUT', `apps names ${apps.length} apps: the maximum is ${maxApps}.`, { field: 'apps' })
}

const readingOf = ({ app, reading }: WidgetRow, { widgets }: Context) => reading ?? widgets.readingOf(app)

/** Streams widgets of one kind. */
function stream(context: Context, isWanted: (widget: WidgetRow) => boolean) {
  const events: EventStream = context.events.listen(topics(context))
  // Read again each time: the operation's cached value dates from the start of the stream.
  const list = async () => (await context.widgets.list()).filter(isWanted)
  return liveWidgets({
    events,
    list,
    async appeared(app, isInstallation) {
      // A service announces changes of its widget wherever it is not installed, too.
      if (app in sources && !isInstallation) return null
      return (await list()).find(widget => widget.app === app) ?? null
    },
    read: ({ app }) => context.widgets.read(app),
    failed: error => context.log.warn({ err: error, requestId: context.requestId }, 'widget could not be read'),
  }) as never
}

export const widgetResolvers: Resolvers = {
  Query: {
    widgets: async (_, given, context) => {
      requireQuery(context, given)
      const all = await context.widgets.visible()
      return given.apps ? all.filter(({ app }) => given.apps!.includes(app)) : all
    },
  },
  Subscription: {
    widgetUpdated: {
      subscribe: (_, __, context) => stream(context, ({ audience }) => context.viewer.organizationId === null || audience === 'ORGANIZATION'),
      resolve: (widget: unknown) => widget as WidgetRow,
    },
    ownWidgetUpdated: {
      subscribe: (_, __, context) => stream(context, ({ audience }) => context.viewer.organizationId !== null && audience === 'USER'),
      resolve: (widget: unknown) => widget as WidgetRow,
    },
  },
  Widget: {
    __resolveReference: async ({ id }, { widgets }) => (isId(id) ? ((await widgets.visible()).find(widget => widget.id === id) ?? null) : null),
    icon: ({ app }, _, { publicUrl }) => `${publicUrl}${iconPath(app)}`,
    state: async (widget, _, context) => (await readingOf(widget, context))?.state ?? 'OVERVIEW',
    readAt: async (widget, _, context) => (await readingOf(widget, context))?.readAt ?? null,
    async ageSeconds(widget, _, context) {
      const reading = await readingOf(widget, context)
      return reading && ageSecondsOf(reading, context.clock.now())
    },
    failure: async (widget, _, context) => (await readingOf(widget, context))?.failure ?? null,
    async overview(widget, _, context) {
      const reading = await readingOf(widget, context)
      return reading?.payload ? null : context.catalogEntries.ofApp(widget.app)
    },
    payload: async (widget, _, context) => (await readingOf(widget, context))?.payload ?? null,
  },
}

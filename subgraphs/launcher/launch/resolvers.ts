import { DomainError } from '../../../platform/errors.ts'
import { readText, requireId } from '../../../platform/ids.ts'
import { notFound } from '../../store/store.ts'
import { change } from '../../store/write.ts'
import { isPerson } from '../../viewer.ts'
import { iconPath } from '../catalog/entry/rules.ts'
import type { Context } from '../context.ts'
import type { LaunchAppInput, Resolvers } from '../resolvers.generated.ts'
import type { LaunchRow } from '../stores/launch.ts'
import { type Launched, launch } from './launch.ts'
import { max, pathOfItem, readReturnTo, reporting, secondsUntil } from './rules.ts'

/** Returns which app an input opens, and where. @throws BAD_USER_INPUT, NOT_FOUND */
async function targetOf({ actionItems }: Context, { app, actionItemId, returnTo }: LaunchAppInput): Promise<{ app: string; returnTo: string | null }> {
  if (typeof app === 'string' && !actionItemId) return { app, returnTo: readReturnTo(returnTo) }
  if (app || !actionItemId) throw new DomainError('BAD_USER_INPUT', 'Name the app or an action item, and not both.', { field: 'app' })
  if (returnTo) throw new DomainError('BAD_USER_INPUT', 'An action item is opened at its own address: leave returnTo out.', { field: 'returnTo' })
  const item = await actionItems.require(requireId(actionItemId, 'actionItemId'), 'actionItemId')
  return { app: item.app, returnTo: pathOfItem(item.url, item.app) }
}

export const launchResolvers: Resolvers = {
  Query: {
    // Programs that act for a person see none of the person's launches.
    launch: (_, { id }, { viewer, launches }) => {
      if (!isPerson(viewer)) throw notFound(launches.what, requireId(id, 'id'))
      return launches.require(id)
    },
    launches: (_, page, { viewer, launches }) => launches.filtered({ isHidden: !isPerson(viewer) }, page),
  },
  Mutation: {
    async launchApp(_, { input }, context) {
      const target = await targetOf(context, input)
      return launch(context, { ...target, source: input.source, platform: input.platform ?? 'WEB' }, input)
    },
    reportLaunch: (_, { input: { id, outcome, message } }, context) => {
      const why = readText(message, 'message', max.message)
      return change(context, { of: context.launches, id, decide: row => reporting(row, outcome, why) })
    },
  },
  Launch: {
    __resolveReference: ({ id }, { launches }) => launches.byId.load(id),
    entry: ({ app }, _, { catalogEntries }) => catalogEntries.ofApp(app),
    icon: ({ app }, _, { publicUrl }) => `${publicUrl}${iconPath(app)}`,
    steps: row => [...((row as Launched).steps ?? [])],
    failure: ({ failureCode: code, failureMessage: message, retryable, retryAt }: LaunchRow, _, { clock }) =>
      code && { code, message: message!, retryable: retryable!, retryAfterSeconds: secondsUntil(retryAt, clock.now()) },
  },
}

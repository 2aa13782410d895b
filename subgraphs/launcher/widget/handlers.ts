import { DomainError } from '../../../platform/errors.ts'
import { spentChallenges } from '../../../platform/sql/spent.ts'
import { fieldsOf, readBody } from '../../http/body.ts'
import type { Handlers } from '../../http/handlers.ts'
import { iconPath } from '../catalog/entry/rules.ts'
import type { At } from '../context.ts'
import { ageSecondsOf } from '../engines/widgets/reading.ts'
import { checkToken, claimedApp, openAppKeys, readChange, usedBefore } from './changed.ts'
import { announceChange } from './changes.ts'
import { requireQuery } from './resolvers.ts'

const wrong = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

/** Reads the body of a batch. @throws BAD_USER_INPUT with the field that is wrong */
function readBatch(body: unknown): { readonly context: 'PERSONAL' | 'ORGANIZATION' | null; readonly apps: readonly string[] | null } {
  const { context = null, apps = null, ...others } = Object(body) as Readonly<Record<string, unknown>>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw wrong(unknown, `${unknown} is not known here: a batch has context and apps.`)
  if (context !== null && context !== 'personal' && context !== 'organization') throw wrong('context', 'context is personal or organization.')
  if (apps !== null && !(Array.isArray(apps) && apps.every(app => typeof app === 'string'))) throw wrong('apps', 'apps is a list of slugs.')
  return { context: context === null ? null : (context.toUpperCase() as 'PERSONAL'), apps }
}

/** Routes of widgets: the batch for pages, changes reported by apps, and the public keys of viewer tokens. */
export function widgetHandlers({ contexts, foundation, settings, job, services: { appWidgets, events, viewerTokens } }: At): Handlers {
  const { clock, publicUrl } = foundation
  const keys = openAppKeys(settings.appsWay.outbound, clock)
  const spend = spentChallenges(foundation.sequelize, 'launcher')
  const json = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json; charset=utf-8', ...headers } })
  return {
    'POST /launcher/api/widgets': async (request, viewer) => {
      const body = await readBody(request)
      const given = readBatch(body ? fieldsOf(request.headers.get('content-type') ?? '', body) : {})
      const context = contexts.forRequest(viewer, request)
      requireQuery(context, given as never)
      const rows = (await context.widgets.list()).filter(({ app }) => given.apps === null || given.apps.includes(app))
      const widgets = await Promise.all(
        rows.map(async ({ id, app, title, audience }) => {
          const reading = await context.widgets.readingOf(app)
          const entry = reading?.payload ? null : await context.catalogEntries.ofApp(app)
          const { summary = null, category = null, publisher = null } = entry ?? {}
          return {
            ...{ id, app, title, icon: `${publicUrl}${iconPath(app)}`, audience: audience.toLowerCase() },
            state: (reading?.state ?? 'OVERVIEW').toLowerCase(),
            readAt: reading?.readAt?.toISOString() ?? null,
            ageSeconds: reading && ageSecondsOf(reading, clock.now()),
            failure: reading?.failure ?? null,
            payload: reading?.payload ?? null,
            overview: reading?.payload ? null : { summary, category, publisher },
          }
        }),
      )
      return json({ context: viewer.context, widgets }, { 'cache-control': 'no-store' })
    },
    'POST /launcher/api/widgets/changed': async request => {
      const { token, app } = claimedApp(request.headers.get('authorization'))
      const entry = await job('widgets').catalogEntries.ofApp(app)
      if (!entry?.keysUrl) throw new DomainError('UNAUTHENTICATED', 'The token names no app of the catalogue.')
      const { hash, endsAt } = await checkToken(token, app, { keysUrl: entry.keysUrl, audience: publicUrl, now: clock.now(), keys })
      const change = readChange(app, fieldsOf(request.headers.get('content-type') ?? '', await readBody(request)))
      if (!(await spend(hash, endsAt))) throw usedBefore()
      await appWidgets.drop({ entryId: entry.id, organizationId: change.organizationId, userId: change.userId })
      announceChange(events, change)
      return new Response(null, { status: 202 })
    },
    'GET /launcher/api/widgets/keys': async () => json(await viewerTokens.keys(), { 'cache-control': 'public, max-age=300' }),
  }
}

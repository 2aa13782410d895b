import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReceivedRead } from '../../../../sandbox/neighbours/apps.ts'
import { freshMs } from '../../../../subgraphs/launcher/engines/widgets/apps/apps.ts'
import { personalScopes, type Scope } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { steer } from '../catalog/seed.ts'

// Whoever reads, with whatever rights, and whatever is installed, removed and said to have changed meanwhile: a payload is shown to those
// viewers alone for whom the app was asked. A model says of each reading whether the app is asked, and for whom.

/** Apps whose payload is a person's own, in an organization and without one, and one whose payload an organization shares. */
const apps = { 'route-finder': 'USER', 'team-board': 'ORGANIZATION', 'day-planner': 'USER' } as const
type App = keyof typeof apps

/** A viewer of the tale, in a context of its own. */
interface Reader {
  readonly name: string
  readonly viewer: Viewer
  /** Who installs and removes apps there. */
  readonly keeper: Viewer
}

const rights: readonly Scope[] = ['launcher:widgets.read']

async function openTale() {
  const graph = await supergraph({ sandbox: true, catalogue: true })
  await graph.platform.launcher.at.services.catalog.refresh()
  const { owner, member, outsider, viewer } = await graph.seed.owner().member().outsider().viewer()
  const alone = (one: Viewer): Viewer => ({ ...personally(one), scopes: personalScopes })
  const readers: readonly Reader[] = [
    { name: 'owner', viewer: owner, keeper: owner },
    { name: 'member', viewer: member, keeper: owner },
    { name: 'promoted member', viewer: { ...member, roles: ['admin'], scopes: owner.scopes }, keeper: owner },
    { name: 'second member', viewer: { ...viewer, organizationId: owner.organizationId, roles: member.roles, scopes: member.scopes }, keeper: owner },
    { name: 'member with one right', viewer: { ...member, scopes: rights }, keeper: owner },
    { name: 'key', viewer: key(owner.organizationId!, rights), keeper: owner },
    { name: 'outsider', viewer: outsider, keeper: outsider },
    { name: 'key of the other organization', viewer: key(outsider.organizationId!, rights), keeper: outsider },
    { name: 'owner alone', viewer: alone(owner), keeper: alone(owner) },
    { name: 'member alone', viewer: alone(member), keeper: alone(member) },
  ]
  const change = async (name: 'installApp' | 'uninstallApp', as: Viewer, app: App) =>
    (await graph.execute(`mutation { ${name}(input: { app: "${app}" }) { id } }`, {}, { as })).data()[name].id as string
  return {
    ...{ graph, readers, change },
    received: () => steer<ReceivedRead[]>(graph, 'received?network=apps'),
    idOf: async (app: App) => (await graph.platform.launcher.job('test').catalogEntries.ofApp(app))!.id,
    async read({ viewer }: Reader, app: App) {
      const query = `{ widgets(apps: ["${app}"]) { state failure { code } payload { items { title } } } }`
      const [widget] = (await graph.execute(query, {}, { as: viewer })).data().widgets
      return widget as { state: string; failure: { code: string } | null; payload: { items: { title: string }[] } } | undefined
    },
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

const placeOf = ({ keeper }: Reader) => keeper.organizationId ?? `person ${keeper.userId}`

/** For whom an app is asked when a viewer reads: everything that may change its answer. */
function askedFor({ viewer }: Reader, app: App, installation: string) {
  const isShared = viewer.organizationId !== null && apps[app] === 'ORGANIZATION'
  const role = viewer.organizationId === null ? null : viewer.roles.some(each => each === 'owner' || each === 'admin') ? 'manager' : 'member'
  const subject = isShared ? null : viewer.userId
  const scopes = isShared ? viewer.scopes.filter(scope => scope.startsWith('launcher:widgets.')).toSorted() : []
  return { key: JSON.stringify([app, installation, viewer.organizationId, subject, role, scopes]), subject, role, organizationId: viewer.organizationId }
}

/** Whether an app is there for the context of a viewer. */
const isFor = ({ viewer }: Reader, app: App) => (app === 'day-planner') === (viewer.organizationId === null)

const appNames = fc.constantFrom<App>('route-finder', 'team-board', 'day-planner')
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant('read' as const), reader: fc.nat(9), app: appNames }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('install' as const), reader: fc.nat(9), app: appNames }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('remove' as const), reader: fc.nat(9), app: appNames }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('changed' as const), reader: fc.nat(9), app: appNames }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(20_000, 60_000) }) },
)

test('no payload is shown to a viewer for whom the app was not asked, whoever reads and whatever is installed or removed', async () => {
  await using tale = await openTale()
  const { graph, readers } = tale
  let shown = 0
  let shared = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async steps => {
      /** What is installed, by place and app; and until when each answer is fresh, by whom it was asked for. */
      const installed = new Map<string, string>()
      const answers = new Map<string, { readonly app: App; readonly place: string; readonly subject: string | null; readonly freshUntil: number }>()
      try {
        for (const app of ['route-finder', 'team-board'] as const)
          installed.set(`${placeOf(readers[0]!)} ${app}`, await tale.change('installApp', readers[0]!.keeper, app))
        for (const each of steps) {
          const now = graph.clock.now().getTime()
          if (each.does === 'wait') {
            await graph.clock.advance(each.ms)
            continue
          }
          const [reader, { app }] = [readers[each.reader]!, each]
          const place = placeOf(reader)
          const at = `${place} ${app}`
          if (each.does === 'install') {
            if (isFor(reader, app)) installed.set(at, await tale.change('installApp', reader.keeper, app))
          } else if (each.does === 'remove') {
            if (installed.has(at)) await tale.change('uninstallApp', reader.keeper, app)
            installed.delete(at)
          } else if (each.does === 'changed') {
            const { organizationId, userId } = reader.keeper
            const of = { entryId: await tale.idOf(app), organizationId, userId: organizationId === null ? userId : null }
            await graph.platform.launcher.at.services.appWidgets.drop(of)
            // What was said of an organization is said of everybody in it, and what was said of a person counts anywhere.
            for (const [name, answer] of answers)
              if (answer.app === app && (organizationId === null ? answer.subject === userId : answer.place === place)) answers.delete(name)
            await graph.clock.advance(1)
          } else {
            const before = (await tale.received()).length
            const widget = await tale.read(reader, app)
            const asked = (await tale.received()).slice(before)
            // A machine that is too busy to ask an app in time says nothing about who sees what.
            fc.pre(widget?.failure?.code !== 'TIMEOUT')
            const installation = installed.get(at)
            const isSeen = installation !== undefined && reader.viewer.kind === 'user'
            if (!isSeen) {
              expect([widget, asked], `${reader.name} sees ${app}`).toEqual([undefined, []])
              continue
            }
            const { key: name, ...claims } = askedFor(reader, app, installation)
            // Time goes on while a tale is told: near the end of an answer's life either is right.
            const freshUntil = answers.get(name)?.freshUntil ?? 0
            fc.pre(Math.abs(freshUntil - now) > 8_000)
            const isFresh = freshUntil > now
            expect(asked, `${reader.name} reads ${app}`).toMatchObject(isFresh ? [] : [{ app, ...claims }])
            if (!isFresh) answers.set(name, { app, place, subject: claims.subject, freshUntil: now + freshMs })
            expect(widget, `${reader.name} reads ${app}`).toMatchObject({
              state: 'FRESH',
              payload: { items: [{ title: claims.subject ?? claims.organizationId }] },
            })
            shown += 1
            if (isFresh) shared += 1
          }
        }
      } finally {
        // Nothing is left for the next tale.
        for (const { keeper } of readers)
          for (const app of Object.keys(apps) as App[])
            if (installed.delete(`${keeper.organizationId ?? `person ${keeper.userId}`} ${app}`)) await tale.change('uninstallApp', keeper, app)
      }
    }),
    { numRuns: Number(process.env.WIDGET_TALES ?? 40), endOnFailure: true },
  )
  expect({ shown: shown > 50, shared: shared > 5 }).toEqual({ shown: true, shared: true })
}, 600_000)

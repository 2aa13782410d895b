import type { Ask } from '../../../../platform/ask.ts'
import { createLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'
import { anonymous, isPerson, type Viewer } from '../../../viewer.ts'
import { WidgetServicesDocument, type WidgetServicesQuery } from '../../ask.generated.ts'
import { type CatalogEntryRow, catalogEntryStore, compareTitles } from '../../stores/catalog-entry.ts'
import { entitlementStore, isEntitled } from '../../stores/commerce/entitlement.ts'
import { type InstallationRow, installationStore } from '../../stores/installation.ts'
import type { AppWidget, AppWidgets } from './apps/apps.ts'
import { shareOf } from './apps/share.ts'
import { degraded, failureOf, fresh, type WidgetReading } from './reading.ts'
import { canSee, readWidgets, sources } from './sources.ts'

/**
 * A widget in the form for resolvers; without `reading` the fields read it from its app. Widgets have no table: their
 * apps hold the content.
 */
export interface WidgetRow {
  readonly id: string
  readonly app: string
  readonly title: string
  readonly audience: 'ORGANIZATION' | 'USER'
  readonly reading?: WidgetReading
}

/** What is shown of an app whose widget could not be read. */
export type WidgetOverviewRow = Pick<CatalogEntryRow, 'summary' | 'category' | 'publisher'>

/**
 * Time in ms for which the list of services, which is the same for everyone, is cached.
 */
const servicesKeptMs = 60_000

/**
 * Time limit in ms for services to answer about their widgets. All are asked together, then each alone after a failure:
 * twice this time is less than the ten seconds that a router gives the launcher, so a silent service costs a dashboard
 * its own widget only.
 */
const widgetPatienceMs = 4_000

/** Maximum widgets of a dashboard. */
export const maxWidgets = 50

type Services = NonNullable<WidgetServicesQuery['services']>

/** What is installed in a viewer's active context, by app. */
type Standing = ReadonlyMap<string, InstallationRow>

/** A widget of an app of the store or of an organization, as one viewer sees it. */
interface Found {
  readonly row: WidgetRow
  readonly widget: AppWidget
}

/**
 * Opens the widgets that a viewer sees; each app is read once per operation.
 * @param apps      reads widgets of third parties
 * @param timeoutMs time limit of a service's answer
 */
export const widgetStore = (asking: Ask, apps: Pick<AppWidgets, 'read'>, timeoutMs = widgetPatienceMs) => {
  let known: { readonly services: Services; readonly until: number } | null = null
  return { open }

  function open(opening: StoreContext) {
    const { reading, clock } = opening
    const viewer = opening.viewer ?? anonymous
    // A read for a viewer who has left is aborted.
    const ask: Ask = (document, variables, as) => asking(document, variables, { ...as, signal: reading.signal })
    const askWidgets: Ask = (document, variables, as) => {
      const late = AbortSignal.timeout(timeoutMs)
      return asking(document, variables, { ...as, signal: AbortSignal.any([reading.signal, late]) })
    }

    /** Returns the registered services, at most a minute old. */
    async function services(): Promise<Services> {
      const now = clock.now().getTime()
      // A clock that is set back must not extend the cache time.
      if (known && now < known.until && now >= known.until - servicesKeptMs) return known.services
      const { services } = await ask(WidgetServicesDocument, {}, { appId: 'app_launcher', viewer })
      if (services) known = { services, until: now + servicesKeptMs }
      return services ?? []
    }
    /** Returns the widgets of the platform's apps that are installed and paid for, as the viewer may see them now, in the registry's order. */
    async function ofPlatform(installations: Promise<Standing>): Promise<WidgetRow[]> {
      const [all, standing, rights] = await Promise.all([services(), installations, entitlementStore.open(opening).rights()])
      return all.flatMap(service => {
        const source = service && sources[service.slug]
        if (!source || !canSee(viewer, source) || !standing.has(service.slug)) return []
        if (!isEntitled({ app: service.slug, origin: 'PLATFORM' }, rights)) return []
        return [
          { id: service.id, app: service.slug, title: service.title, audience: source.audience === 'user' ? ('USER' as const) : ('ORGANIZATION' as const) },
        ]
      })
    }
    /** Returns the installed apps of the store and of the organization that have a widget. @param only null: all of them */
    const ofApps = async (installations: Promise<Standing>, only: readonly string[] | null): Promise<Found[]> =>
      isPerson(viewer) ? findApps(opening, viewer, await installations, only) : []
    const standing = () => installationStore.open(opening).standing()

    /** Returns the widgets that the viewer may see now, by title, without their content. */
    async function list(): Promise<WidgetRow[]> {
      const installations = standing()
      const [platform, found] = await Promise.all([ofPlatform(installations), ofApps(installations, null)])
      if (found.length === 0) return platform
      const all = [...platform, ...found.map(({ row }) => row)]
      return all.sort(compareTitles).slice(0, maxWidgets)
    }

    /** Reads widgets of the platform by one operation; when it fails, each service is read separately. */
    async function readServices(wanted: readonly string[]): Promise<ReadonlyMap<string, WidgetReading>> {
      const one = (app: string) => readWidgets([app], askWidgets, viewer).then(answer => answer.get(app) ?? null)
      const together = wanted.length > 1 ? await readWidgets(wanted, askWidgets, viewer).catch(() => null) : null
      const readingOf = async (app: string): Promise<WidgetReading> => {
        try {
          const payload = together ? (together.get(app) ?? null) : await one(app)
          return payload ? fresh({ payload, readAt: clock.now() }) : degraded(null, failureOf('REFUSED'), clock.now())
        } catch (error) {
          reading.signal.throwIfAborted()
          return degraded(null, failureOf((error as Error).name === 'TimeoutError' ? 'TIMEOUT' : 'UNREACHABLE'), clock.now())
        }
      }
      return new Map(await Promise.all(wanted.map(async app => [app, await readingOf(app)] as const)))
    }
    async function readAll(wanted: readonly string[]): Promise<(WidgetReading | null)[]> {
      const platform = wanted.filter(app => sources[app])
      const others = wanted.filter(app => !sources[app])
      const found = others.length > 0 ? await ofApps(standing(), others) : []
      const [own, theirs] = await Promise.all([
        platform.length > 0 ? readServices(platform) : new Map<string, WidgetReading>(),
        found.length > 0 ? apps.read(found.map(({ widget }) => widget)) : [],
      ])
      const byApp = new Map(found.map(({ row }, at) => [row.app, theirs[at]!]))
      return wanted.map(app => own.get(app) ?? byApp.get(app) ?? null)
    }

    const lists = createLoader<'all', WidgetRow[]>(reading, async () => [await list()])
    const readings = createLoader<string, WidgetReading | null>(reading, readAll)
    return {
      list,
      /** Reads an app's widget now; null for an app without one. */
      read: async (app: string): Promise<WidgetReading | null> => (await readAll([app]))[0] ?? null,
      /** The result of `list`, computed once for the operation. */
      visible: () => lists.load('all'),
      /** The result of `read`, computed once for the operation. */
      readingOf: (app: string) => readings.load(app),
    }
  }
}

/** Finds what is installed in a viewer's active context and has a widget of its own. */
async function findApps(opening: StoreContext, viewer: Viewer, standing: Standing, only: readonly string[] | null): Promise<Found[]> {
  const wanted = [...standing.values()].filter(({ app }) => !sources[app] && (only === null || only.includes(app)))
  const entries = catalogEntryStore.open(opening)
  const found = await Promise.all(wanted.map(async installation => ({ installation, entry: await entries.ofApp(installation.app) })))
  return found.flatMap(({ installation, entry }) => {
    if (!entry?.widgetUrl || !entry.widgetAudience || entry.lifecycle === 'RETIRED') return []
    const { id, app, title, widgetAudience, widgetUrl } = entry
    const audience = viewer.organizationId === null ? ('USER' as const) : widgetAudience
    return [{ row: { id, app, title, audience }, widget: { app, url: widgetUrl, share: shareOf(viewer, entry, installation.id) } }]
  })
}

import type { Ask } from '../../../../platform/ask.ts'
import { createLoader } from '../../../store/loader.ts'
import type { Opening } from '../../../store/store.ts'
import { anonymous } from '../../../viewer.ts'
import { WidgetServicesDocument, type WidgetServicesQuery } from '../../ask.generated.ts'
import { canSee, type Payload, readWidgets, sources } from './sources.ts'

/** A widget as resolvers hand it on; without `payload` the field asks the service. Widgets have no table: their services keep what they show. */
export interface WidgetRow {
  readonly id: string
  readonly app: string
  readonly title: string
  readonly payload?: Payload | null
}

/** For how long it is remembered what services there are, which is the same for everybody, in ms. */
const servicesKeptMs = 60_000

/**
 * For how long services may say nothing to a question for what their widgets show, in ms. All are asked together, then each alone: twice this is
 * less than the ten seconds that a router gives the launcher, so a silent service costs a dashboard its own widget and nothing else.
 */
const widgetPatienceMs = 4_000

type Services = NonNullable<WidgetServicesQuery['services']>

/** Widgets as a viewer sees them: asked of the services, each question once for an operation. @param patienceMs for how long one may say nothing */
export const widgetStore = (asking: Ask, patienceMs = widgetPatienceMs) => {
  let known: { readonly services: Services; readonly until: number } | null = null
  return { open }

  function open({ reading, clock, viewer: asker }: Opening) {
    const viewer = asker ?? anonymous
    // A read for a viewer who has left is aborted.
    const ask: Ask = (document, variables, as) => asking(document, variables, { ...as, signal: reading.signal })
    const askWidgets: Ask = (document, variables, as) => {
      const late = AbortSignal.timeout(patienceMs)
      return asking(document, variables, { ...as, signal: AbortSignal.any([reading.signal, late]) })
    }

    /** What the registry has, at most a minute old. */
    async function services(): Promise<Services> {
      const now = clock.now().getTime()
      // A clock that is set back must not extend the cache time.
      if (known && now < known.until && now >= known.until - servicesKeptMs) return known.services
      const { services } = await ask(WidgetServicesDocument, {}, { appId: 'app_launcher', viewer })
      if (services) known = { services, until: now + servicesKeptMs }
      return services ?? []
    }
    /** The widgets that the viewer may see now, in the registry's order; nothing is asked of their services yet. */
    async function list(): Promise<WidgetRow[]> {
      return (await services()).flatMap(service => {
        const source = service && sources[service.slug]
        return source && canSee(viewer, source) ? [{ id: service.id, app: service.slug, title: service.title }] : []
      })
    }
    /** What the widget of an app shows now; null for an app without one. */
    const read = async (app: string): Promise<Payload | null> => (sources[app] ? ((await readWidgets([app], askWidgets, viewer)).get(app) ?? null) : null)
    /** One question for all; where one of them cannot be asked it costs the others nothing but a second question. */
    const readAll = async (apps: readonly string[]): Promise<(Payload | null | Error)[]> => {
      const together = apps.length > 1 ? await readWidgets(apps, askWidgets, viewer).catch(() => null) : null
      return together ? apps.map(app => together.get(app) ?? null) : Promise.all(apps.map(app => read(app).catch(asError)))
    }

    const lists = createLoader<'all', WidgetRow[]>(reading, async () => [await list()])
    const payloads = createLoader<string, Payload | null>(reading, readAll)
    return {
      list,
      read,
      /** The same as `list`, asked once for the operation. */
      visible: () => lists.load('all'),
      /** The same as `read`, asked once for the operation. */
      payloadOf: (app: string) => payloads.load(app),
    }
  }
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

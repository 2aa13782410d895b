import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import { anonymous } from '../../../viewer.ts'
import { CatalogServicesDocument } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'
import type { Listed } from '../../stores/catalog-entry.ts'
import { listedService } from './platform.ts'
import { type CataloguePage, readCatalogue } from './read.ts'

/** Age in ms at which the copy is read again. */
const copyMs = 600_000
/** Interval in ms at which the age is checked; a source that failed is read again after it. */
const lookMs = 60_000
/** Maximum pages of the developer platform's catalogue. */
const maxPages = 100
const timeoutMs = 10_000

export interface CatalogOptions {
  readonly ask: Ask
  readonly outbound: WayOut
  readonly clock: Clock
  readonly log: Logger
  /** The developer platform; null: the catalogue has platform apps alone. */
  readonly developersUrl: string | null
  /** Replaces what one source lists. */
  replace(isPlatform: boolean, listed: readonly Listed[]): Promise<boolean>
}

/** The copy of the app catalogue, and what keeps it up to date. */
export interface Catalog {
  /** Reads both sources now. */
  refresh(): Promise<void>
  /** Has the sources read soon. */
  wake(): void
  readonly sweep: Sweep
}

/** Keeps the copy of the registry's services and of the developer platform's apps. */
export function openCatalog({ ask, outbound, clock, log, developersUrl, replace }: CatalogOptions): Catalog {
  let readAt: number | null = null
  let wakeSweep: (() => void) | undefined

  async function askDevelopers(cursor: string | null): Promise<CataloguePage> {
    const query = cursor === null ? '' : `?after=${encodeURIComponent(cursor)}`
    const { status, text } = await outbound(`${developersUrl}/api/catalogue${query}`, { headers: { accept: 'application/json' }, timeoutMs })
    const page = status === 200 ? readCatalogue(text) : null
    if (!page) throw new Error(`the developer platform's catalogue answered ${status}, or something that is no catalogue`)
    return page
  }

  async function readDevelopers() {
    const apps = new Map<string, Listed>()
    let icons: Readonly<Record<string, string>> = {}
    let cursor: string | null = null
    for (let page = 0; page < maxPages; page++) {
      const read: CataloguePage = await askDevelopers(cursor)
      for (const app of read.apps) apps.set(app.app, app)
      icons = { ...icons, ...read.icons }
      cursor = read.nextCursor
      if (cursor === null) break
    }
    return { apps: [...apps.values()], icons }
  }

  /** Reads the developer platform before the registry, which has no icons; without an answer the copy of its apps stays. */
  async function refresh(): Promise<void> {
    const found = developersUrl === null ? { apps: [], icons: {} } : await readDevelopers().catch(error => void log.warn({ err: error }, 'catalogue not read'))
    const { services } = await ask(CatalogServicesDocument, {}, { appId: registration.appId, viewer: anonymous })
    if (services)
      await replace(
        true,
        services.flatMap(service => (service ? [listedService(service, found?.icons ?? {})] : [])),
      )
    if (found) await replace(false, found.apps)
    if (services && found) readAt = clock.now().getTime()
  }

  return {
    refresh,
    wake() {
      readAt = null
      wakeSweep?.()
    },
    sweep: {
      name: 'catalogue',
      everyMs: lookMs,
      asksOthers: true,
      wakes: wake => {
        wakeSweep = wake
      },
      async run() {
        const age = readAt === null ? null : clock.now().getTime() - readAt
        if (age === null || age < 0 || age >= copyMs) await refresh()
      },
    },
  }
}

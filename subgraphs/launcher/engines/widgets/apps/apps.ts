import type { Logger } from 'pino'
import type { Clock } from '../../../../../platform/clock.ts'
import type { WayOut } from '../../../../../platform/outbound/outbound.ts'
import type { AppFailing, AppFailureStore, AppScope } from '../../../stores/app-failure.ts'
import type { PayloadStore, StoredPayload } from '../../../stores/widget-payload.ts'
import { degraded, failureOf, fresh, type WidgetReading } from '../reading.ts'
import type { Payload } from '../sources.ts'
import { type Fetched, fetchWidget } from './fetch.ts'
import type { Share } from './share.ts'
import type { ViewerTokens } from './token.ts'

/** A widget to read: where, and for whom the answer is true. */
export interface AppWidget {
  readonly app: string
  readonly url: string
  readonly share: Share
}

export interface AppWidgetsOptions {
  readonly outbound: Pick<WayOut, 'stream'>
  readonly clock: Clock
  readonly log: Logger
  readonly payloads: PayloadStore<Payload>
  readonly failures: AppFailureStore
  readonly tokens: Pick<ViewerTokens, 'write'>
  readonly isDevelopment: boolean
}

/** Reads widgets of apps of the store and of organizations. */
export interface AppWidgets {
  /** Reads widgets in parallel and returns them in order: fresh ones from the cache, others from their apps. A failing app never rejects it. */
  read(widgets: readonly AppWidget[]): Promise<readonly WidgetReading[]>
  /** Ends the freshness of an app's payloads, because the app said that something changed. */
  drop(of: { readonly entryId: string; readonly organizationId: string | null; readonly userId: string | null }): Promise<void>
}

/** Time in ms for which a good payload is answered without asking the app. */
export const freshMs = 45_000

type Stored = StoredPayload<Payload>

/** A reading that is under way, shared by everybody with its key. */
interface Running {
  readonly answer: Promise<WidgetReading>
  readonly widget: AppWidget
}

const scopeOf = ({ entryId, organizationId, userId }: Share): AppScope => ({ entryId, scopeId: organizationId ?? userId! })
const unknown: AppFailing = { isFailing: false, pausedUntil: null, isPausedForMany: false }

/** Opens the reader. Failures of an app and payloads are shared by all processes. */
export function openAppWidgets({ outbound, clock, log, payloads, failures, tokens, isDevelopment }: AppWidgetsOptions): AppWidgets {
  const running = new Map<string, Running>()

  /** Without the store a failing app is asked more often, and a paused one later. */
  const recorded = (recording: Promise<unknown>) => recording.catch(error => log.warn({ err: error }, 'failures of an app not recorded'))

  async function mayAsk(scope: AppScope, { pausedUntil, isPausedForMany }: AppFailing): Promise<boolean> {
    if (pausedUntil === null) return !isPausedForMany
    const now = clock.now()
    return pausedUntil <= now && (await recorded(failures.takeTrial(scope, now))) === true
  }

  async function ask({ url, share }: AppWidget, failing: AppFailing): Promise<Fetched> {
    const scope = scopeOf(share)
    if (!(await mayAsk(scope, failing))) return { code: 'PAUSED' }
    const answer = await fetchWidget(outbound, url, await tokens.write(share), isDevelopment)
    if ('code' in answer) await recorded(failures.add(scope, clock.now()))
    else if (failing.isFailing) await recorded(failures.end(scope))
    return answer
  }

  async function readNow(widget: AppWidget, last: Stored | undefined, failing: AppFailing): Promise<WidgetReading> {
    const askedAt = clock.now()
    const answer = await ask(widget, failing)
    const now = clock.now()
    if ('code' in answer) return degraded(last, failureOf(answer.code), now)
    const { key, entryId, organizationId, userId } = widget.share
    const { payload } = answer
    // Without the store the answer is good all the same: it is only asked for again sooner.
    await payloads
      .write([{ key, entryId, organizationId, userId, payload }], askedAt, now, new Date(now.getTime() + freshMs))
      .catch(error => log.warn({ err: error }, 'widget payload not stored'))
    return fresh({ payload, readAt: now })
  }

  function shared(widget: AppWidget, last: Stored | undefined, failing: AppFailing): Promise<WidgetReading> {
    const { key } = widget.share
    const present = running.get(key)
    if (present) return present.answer
    const run: Running = {
      widget,
      answer: readNow(widget, last, failing).finally(() => {
        if (running.get(key) === run) running.delete(key)
      }),
    }
    running.set(key, run)
    return run.answer
  }

  return {
    async read(widgets) {
      const found = await payloads.read(widgets.map(({ share }) => share.key)).catch(error => {
        log.warn({ err: error }, 'widget payloads not read')
        return [] as Stored[]
      })
      const known = new Map(found.map(row => [row.key, row]))
      const now = clock.now()
      // A clock that is set back must not extend the freshness.
      const isFresh = (row: Stored | undefined): row is Stored => row !== undefined && now < row.freshUntil && now >= row.readAt
      const toAsk = widgets.filter(({ share }) => !isFresh(known.get(share.key)))
      const failing = await failures
        .read(
          toAsk.map(({ share }) => scopeOf(share)),
          now,
        )
        .catch(error => {
          log.warn({ err: error }, 'failures of apps not read')
          return [] as AppFailing[]
        })
      const failingOf = new Map(toAsk.map((widget, at) => [widget, failing[at] ?? unknown]))
      return Promise.all(
        widgets.map(widget => {
          const last = known.get(widget.share.key)
          return isFresh(last) ? fresh({ payload: last.payload, readAt: last.readAt }) : shared(widget, last, failingOf.get(widget)!)
        }),
      )
    },

    async drop(of) {
      // A reading that began before the change is not shared with anybody who asks after it.
      for (const [key, { widget }] of running) {
        const { entryId, organizationId, userId } = widget.share
        const isOf = (wanted: string | null, its: string | null) => wanted === null || its === wanted
        if (entryId === of.entryId && isOf(of.organizationId, organizationId) && (userId === null || isOf(of.userId, userId))) running.delete(key)
      }
      await payloads.drop(of, clock.now())
    },
  }
}

import type { Logger } from 'pino'
import type { Clock } from '../../../../../platform/clock.ts'
import type { WayOut } from '../../../../../platform/outbound/outbound.ts'
import type { PayloadStore, StoredPayload } from '../../../stores/widget-payload.ts'
import { degraded, failureOf, fresh, type WidgetReading } from '../reading.ts'
import type { Payload } from '../sources.ts'
import { type Fetched, fetchWidget } from './fetch.ts'
import { asked, type Failing, failed, mayAsk } from './pause.ts'
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

/** Opens the reader. Each process counts the failures of an app for itself; payloads are shared by all processes. */
export function openAppWidgets({ outbound, clock, log, payloads, tokens, isDevelopment }: AppWidgetsOptions): AppWidgets {
  const failing = new Map<string, Failing>()
  const running = new Map<string, Running>()

  async function ask({ url, share }: AppWidget): Promise<Fetched> {
    const now = clock.now().getTime()
    const known = failing.get(share.entryId)
    if (!mayAsk(known, now)) return { code: 'PAUSED' }
    const trying = asked(known, now)
    if (trying) failing.set(share.entryId, trying)
    const answer = await fetchWidget(outbound, url, await tokens.write(share), isDevelopment)
    if ('payload' in answer) failing.delete(share.entryId)
    else failing.set(share.entryId, failed(failing.get(share.entryId), clock.now().getTime()))
    return answer
  }

  async function readNow(widget: AppWidget, last: Stored | undefined): Promise<WidgetReading> {
    const askedAt = clock.now()
    const answer = await ask(widget)
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

  function shared(widget: AppWidget, last: Stored | undefined): Promise<WidgetReading> {
    const { key } = widget.share
    const present = running.get(key)
    if (present) return present.answer
    const run: Running = {
      widget,
      answer: readNow(widget, last).finally(() => {
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
      return Promise.all(
        widgets.map(widget => {
          const last = known.get(widget.share.key)
          // A clock that is set back must not extend the freshness.
          const isFresh = last && now < last.freshUntil && now >= last.readAt
          return isFresh ? fresh({ payload: last.payload, readAt: last.readAt }) : shared(widget, last)
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

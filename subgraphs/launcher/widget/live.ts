import type { EventStream } from '../../../platform/events.ts'
import { seenOf, type WidgetReading } from '../engines/widgets/reading.ts'
import type { WidgetRow } from '../engines/widgets/widgets.ts'

export interface LiveWidgets {
  /**
   * Events with the app (`{ app }`) whose widget may have changed, and with the `id` of its installation where that
   * began or ended. Listening must begin before `list`.
   */
  readonly events: EventStream
  list(): Promise<WidgetRow[]>
  /** Returns the widget that an app has now; null without one. @param isInstallation whether its installation changed */
  appeared(app: string, isInstallation: boolean): Promise<WidgetRow | null>
  /** Reads one widget from its app; null when it is no longer there. */
  read(widget: WidgetRow): Promise<WidgetReading | null>
  /** Called after a failed read; the next event or interval tries again. */
  failed(error: unknown): void
}

/**
 * Time in ms for which changes of one app are collected before its widget is read: a burst of events costs one read.
 */
const gatherMs = 100
/** Interval in ms at which every widget is read without an event, because of missed events and midnight. */
const rereadMs = 60_000

/**
 * A dashboard's stream: every present widget once, then a widget whenever its content differs from the last one sent.
 * It is no async generator, so that `return()` ends everything at once, listeners and timers included.
 */
export function liveWidgets({ events, list, appeared, read, failed }: LiveWidgets): AsyncIterableIterator<WidgetRow> {
  const known = new Map<string, WidgetRow>()
  const sent = new Map<string, string>()
  const ready = new Map<string, WidgetRow>()
  const dirty = new Set<string>()
  let waiting: { resolve(result: IteratorResult<WidgetRow>): void; reject(error: unknown): void }[] = []
  let over = false
  let gathering: NodeJS.Timeout | undefined
  let reading = false
  let broken: { error: unknown } | undefined

  const offer = (widget: WidgetRow) => {
    if (over) return
    const taker = waiting.shift()
    if (taker) taker.resolve({ value: widget, done: false })
    // A slow consumer gets the latest state of each widget, not its history.
    else ready.set(widget.app, widget)
  }
  const refresh = async (widget: WidgetRow) => {
    try {
      const reading = await read(widget)
      if (!reading) return void known.delete(widget.app)
      const text = seenOf(reading)
      if (sent.get(widget.app) === text) return
      sent.set(widget.app, text)
      offer({ ...widget, reading })
    } catch (error) {
      // A read under way when the stream ended is aborted with it.
      if (over) return
      failed(error)
      // An error of the first read is reported by the field; later errors keep the widget that is shown.
      if (!sent.has(widget.app)) {
        sent.set(widget.app, 'unread')
        offer(widget)
      }
    }
  }
  const readDirty = async () => {
    gathering = undefined
    if (reading || over) return
    reading = true
    const widgets = [...dirty].flatMap(app => known.get(app) ?? [])
    dirty.clear()
    await Promise.all(widgets.map(refresh))
    reading = false
    if (dirty.size) gather()
  }
  const gather = () => {
    if (!over) gathering ??= setTimeout(() => void readDirty(), gatherMs).unref()
  }
  const mark = (apps: Iterable<string>) => {
    for (const app of apps) dirty.add(app)
    gather()
  }
  const rounds = setInterval(() => mark(known.keys()), rereadMs * (0.9 + Math.random() * 0.2)).unref()

  const missed = (error: unknown): undefined => void (over || failed(error))
  const end = () => {
    if (over) return
    over = true
    clearTimeout(gathering)
    clearInterval(rounds)
    void events.return()
    for (const taker of waiting) taker.resolve({ value: undefined, done: true })
    waiting = []
    ready.clear()
  }
  const begin = async () => {
    try {
      for (const widget of await list()) known.set(widget.app, widget)
      await Promise.all([...known.values()].map(refresh))
    } catch (error) {
      broken = { error }
      for (const taker of waiting.splice(0)) taker.reject(error)
      return end()
    }
    for (;;) {
      const { value, done } = await events.next()
      if (done) return end()
      if (!value.app) continue
      const before = known.get(value.app)
      const found = before && value.id === undefined ? before : await appeared(value.app, value.id !== undefined).catch(missed)
      if (found) {
        known.set(value.app, found)
        mark([value.app])
      } else if (found === null && known.delete(value.app)) sent.delete(value.app)
    }
  }
  void begin()

  return {
    next() {
      if (broken) {
        const { error } = broken
        broken = undefined
        return Promise.reject(error)
      }
      const [first] = ready
      if (first) {
        ready.delete(first[0])
        return Promise.resolve({ value: first[1], done: false })
      }
      if (over) return Promise.resolve({ value: undefined, done: true })
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    return() {
      end()
      return Promise.resolve({ value: undefined, done: true })
    },
    throw(error) {
      end()
      return Promise.reject(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

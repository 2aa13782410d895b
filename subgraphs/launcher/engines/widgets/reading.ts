import type { Payload } from './sources.ts'

/** Why an app's widget could not be read. */
export type FailureCode = 'TIMEOUT' | 'UNREACHABLE' | 'REFUSED' | 'TOO_LARGE' | 'INVALID' | 'PAUSED'

export interface WidgetFailureRow {
  readonly code: FailureCode
  /** A sentence for people. */
  readonly message: string
}

/** A payload, and when the app gave it. */
export interface Good {
  readonly payload: Payload
  readonly readAt: Date
}

/** What is shown of a widget, and how current it is. */
export type WidgetReading =
  | ({ readonly state: 'FRESH'; readonly failure: null } & Good)
  | ({ readonly state: 'STALE'; readonly failure: WidgetFailureRow } & Good)
  | { readonly state: 'OVERVIEW'; readonly failure: WidgetFailureRow; readonly payload: null; readonly readAt: null }

/** Whole seconds since the app gave what is shown; null for an overview. */
export const ageSecondsOf = ({ readAt }: WidgetReading, now: Date): number | null =>
  readAt && Math.max(0, Math.floor((now.getTime() - readAt.getTime()) / 1_000))

/** Age in ms up to which a payload is shown while its app does not answer. */
export const staleMs = 300_000

export const fresh = (good: Good): WidgetReading => ({ state: 'FRESH', failure: null, ...good })

/** What is shown when an app could not be read: its last good payload if that is young enough, else an overview. */
export function degraded(last: Good | null | undefined, failure: WidgetFailureRow, now: Date): WidgetReading {
  const age = last ? now.getTime() - last.readAt.getTime() : null
  return last && age !== null && age <= staleMs ? { state: 'STALE', failure, ...last } : { state: 'OVERVIEW', failure, payload: null, readAt: null }
}

const sentences: Readonly<Record<FailureCode, string>> = {
  TIMEOUT: 'The app did not answer in time.',
  UNREACHABLE: 'The app cannot be reached.',
  REFUSED: 'The app refused to answer.',
  TOO_LARGE: 'The app’s answer is too large.',
  INVALID: 'The app’s answer is no widget.',
  PAUSED: 'The app failed several times in a row and is asked again in half a minute.',
}

export const failureOf = (code: FailureCode): WidgetFailureRow => ({ code, message: sentences[code] })

/** Identifies what people see of a reading: when it was read does not count. */
export const seenOf = ({ state, payload, failure }: WidgetReading): string => JSON.stringify([state, payload, failure?.code])

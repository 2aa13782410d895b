import { DomainError } from '../../../platform/errors.ts'
import { isLaunchable } from '../catalog/entry/rules.ts'
import type { CatalogEntryRow } from '../stores/catalog-entry.ts'
import type { Lately, LaunchFailureCode, LaunchPlatform, LaunchRow } from '../stores/launch.ts'

/** Maximum launches of a person within a minute, and again as many refused ones that are kept. */
export const maxAMinute = 30
export const minuteMs = 60_000

/** Maximum characters of a report, and of a path of an app. */
export const max = { message: 500, path: 2_000 } as const

/** Maximum steps of a launch. */
export const maxSteps = 3

/** Why an app is not opened. */
export interface Failure {
  readonly code: LaunchFailureCode
  /** A sentence for people. */
  readonly message: string
  readonly retryable: boolean
  /** When another launch may succeed; null when nobody knows. */
  readonly retryAt: Date | null
}

export const failed = (code: LaunchFailureCode, message: string, again: { readonly retryable?: boolean; readonly retryAt?: Date | null } = {}): Failure => ({
  code,
  message,
  retryable: again.retryable ?? false,
  retryAt: again.retryAt ?? null,
})

/** The failure of an app that the other context alone has. */
export const inOtherContext = (title: string, context: string): Failure =>
  failed('CONTEXT', `${title} cannot be used in ${context} context: switch to the other one.`)

type Entry = Pick<CatalogEntryRow, 'app' | 'title' | 'kind' | 'lifecycle'>

/** What is known of an app in the active context. */
export interface Standing {
  readonly isInstalled: boolean
  readonly isEntitled: boolean
  /** Whether the person holds a seat, where the app needs one. */
  readonly hasSeat: boolean
  readonly maintainedUntil: Date | null
}

/** Returns why an app of the active context's catalogue cannot be opened; null when it can. */
export function failureOf(entry: Entry, { isInstalled, isEntitled, hasSeat, maintainedUntil }: Standing): Failure | null {
  const { title } = entry
  if (!isLaunchable(entry)) return failed('NOT_LAUNCHABLE', `${title} is nothing that people open: choose another app.`)
  if (!isInstalled) return failed('NOT_INSTALLED', `${title} is not installed here: install it, or ask a manager for it.`)
  if (!isEntitled) return failed('NOT_ENTITLED', `The plan does not include ${title}: a manager can choose a larger one.`)
  if (!hasSeat) return failed('NO_SEAT', `No seat is free for you to open ${title}: ask a manager for one.`)
  if (maintainedUntil) return failed('MAINTENANCE', `${title} is under maintenance: try again later.`, { retryable: true, retryAt: maintainedUntil })
  return null
}

/**
 * Returns the failure of a launch that is one too many; null when it is not.
 * @throws RATE_LIMITED past twice as many attempts, of which nothing is kept
 */
export function tooMany({ made, limited, since }: Lately, now: Date): Failure | null {
  if (made < maxAMinute) return null
  const retryAt = new Date((since ?? now).getTime() + minuteMs)
  if (limited >= maxAMinute) {
    const retryAfter = secondsUntil(retryAt, now) ?? 1
    throw new DomainError('RATE_LIMITED', `You opened too many apps within a minute: try again in ${retryAfter} seconds.`, { retryAfter })
  }
  return failed('RATE_LIMITED', `You opened ${maxAMinute} apps within a minute: wait a moment.`, { retryable: true, retryAt })
}

/** Returns the whole seconds until a moment, at least 1; null once it has passed. */
export const secondsUntil = (at: Date | null, now: Date): number | null => (at && at > now ? Math.ceil((at.getTime() - now.getTime()) / 1000) : null)

interface Refused {
  readonly code?: unknown
  readonly reason?: unknown
  readonly retryAfter?: unknown
  readonly field?: unknown
}

/** Returns the failure of a launch for which identity made no handoff. @param error as identity's answer says it */
export function handoffFailure(error: unknown, title: string, context: string, now: Date): Failure {
  const { code, reason, retryAfter, field } = ((error as { extensions?: Refused } | null)?.extensions ?? {}) as Refused
  if (code === 'RATE_LIMITED') {
    const retryAt = new Date(now.getTime() + (typeof retryAfter === 'number' ? retryAfter : 60) * 1000)
    return failed('RATE_LIMITED', 'You opened too many apps within a minute: wait a moment.', { retryable: true, retryAt })
  }
  if (code === 'CONFLICT' && reason === 'CONTEXT') return inOtherContext(title, context)
  if ((code === 'CONFLICT' && reason === 'NOT_LAUNCHABLE') || code === 'NOT_FOUND')
    return failed('NOT_LAUNCHABLE', `${title} is nothing that people open: choose another app.`)
  if (field === 'sessionId') return failed('HANDOFF_FAILED', 'You are signed out: sign in again, and open the app then.')
  if (code === 'CONFLICT') return failed('HANDOFF_FAILED', 'People sign in elsewhere here: open the app by its own address.')
  return failed('HANDOFF_FAILED', `${title} could not be opened: try again in a moment.`, { retryable: true })
}

/** Returns the path of an app to open; null for none. @throws BAD_USER_INPUT for one that could lead to another host */
export function readReturnTo(given: string | null | undefined, field = 'returnTo'): string | null {
  if (given === null || given === undefined) return null
  if (isPath(given)) return given
  throw new DomainError('BAD_USER_INPUT', `${field} is a path of the app, at most ${max.path} characters that begin with one slash.`, { field })
}

// Browsers read a backslash as a slash and drop control characters.
const isPath = (path: string): boolean => path.length <= max.path && /^\/(?![/\\])[!-~]*$/.test(path)

/** Returns the path of an action item within its app: that of its address, without the app's prefix; null for none. */
export function pathOfItem(url: string, app: string): string | null {
  if (!URL.canParse(url)) return null
  const { pathname, search } = new URL(url)
  const prefix = `/${app}`
  const path = `${pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname}${search}`
  return isPath(path) ? path : null
}

/** Returns the changes by a client's report. @throws CONFLICT, reason DECIDED, for one that says something else than an earlier one */
export function reporting(launch: LaunchRow, outcome: 'OPENED' | 'FAILED', message: string | null): Partial<LaunchRow> {
  const { status, failureCode, failureMessage } = launch
  if (outcome === 'OPENED' && message !== null)
    throw new DomainError('BAD_USER_INPUT', 'message says why a launch failed: leave it out for OPENED.', { field: 'message' })
  const told = message ?? `${launch.title} could not be opened on this device.`
  if (status === 'READY')
    return outcome === 'OPENED' ? { status: 'OPENED' } : { status: 'FAILED', failureCode: 'CLIENT_FAILED', failureMessage: told, retryable: true }
  const isRepeated = outcome === 'OPENED' ? status === 'OPENED' : failureCode === 'CLIENT_FAILED' && failureMessage === told
  if (isRepeated) return {}
  throw new DomainError('CONFLICT', `How this launch ended is known already: it is ${status.toLowerCase()}. Open the app again for another one.`, {
    reason: 'DECIDED',
  })
}

/** One way to open an app. */
export interface Step {
  readonly kind: 'UNIVERSAL_LINK' | 'APP_STORE' | 'WEB'
  readonly url: string
}

export interface Coded {
  readonly serviceId: string
  readonly code: string
  readonly callbackUrl: string
}

/** Path of the link that opens a service's native app, on the dashboard's host. */
export const linkPath = (serviceId: string): string => `/launch/${serviceId}`

/**
 * Returns the ways to open an app of the platform, in order.
 * @param build        the native app for the platform; undefined without one
 * @param dashboardUrl the dashboard's address, without a trailing slash
 */
export function stepsWithCode(
  { serviceId, code, callbackUrl }: Coded,
  build: { readonly storeUrl: string | null } | undefined,
  dashboardUrl: string,
): readonly Step[] {
  const link = new URL(`${dashboardUrl}${linkPath(serviceId)}`)
  link.searchParams.set('code', code)
  return [
    ...(build ? [{ kind: 'UNIVERSAL_LINK', url: link.href } as const] : []),
    ...(build?.storeUrl ? [{ kind: 'APP_STORE', url: build.storeUrl } as const] : []),
    { kind: 'WEB', url: callbackUrl },
  ]
}

/**
 * Returns the address at which an app of a third party is opened: where it has people sign in by us (OpenID Connect Core
 * §4), else its page; null without either. It carries no code of ours.
 * @param issuer of identity's tokens
 */
export function addressOfApp(
  { launchUrl, initiateLoginUri }: Pick<CatalogEntryRow, 'launchUrl' | 'initiateLoginUri'>,
  returnTo: string | null,
  issuer: string,
): string | null {
  const base = launchUrl ?? (initiateLoginUri && new URL('/', initiateLoginUri).href)
  if (base === null) return null
  const target = returnTo === null ? new URL(base) : new URL(returnTo, base)
  if (!initiateLoginUri) return target.href
  const login = new URL(initiateLoginUri)
  login.searchParams.set('iss', issuer)
  login.searchParams.set('target_link_uri', target.href)
  return login.href
}

/** Returns the kind of phone that a browser runs on; null for any other machine. */
export function phoneOf(userAgent: string | null): Exclude<LaunchPlatform, 'WEB'> | null {
  if (/\b(?:iPhone|iPad|iPod)\b/.test(userAgent ?? '')) return 'IOS'
  return /\bAndroid\b/.test(userAgent ?? '') ? 'ANDROID' : null
}

import { Refusal } from '../../../../platform/errors.ts'
import { checkText } from '../../../../platform/ids.ts'
import type { BrandRow } from '../../stores/brand.ts'
import { type WebhookEndpointRow, webhookEvents } from '../../stores/news/webhook.ts'
import type { WebhookDeliveryRow } from '../../stores/news/webhook-delivery.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long after a try the next one comes, in ms, as Standard Webhooks proposes; the first comes at once. */
export const pauses: readonly number[] = [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

/** How long an address may take for its answer, in ms. */
export const patienceMs = 15 * second
/** How long a try may be under way before it counts as interrupted, in ms: longer than any answer is waited for. */
export const tryMs = patienceMs + 15 * second
/** For how long the former secret signs beside the new one, in ms. */
export const overlapMs = 24 * hour

/** How many former secrets of an address sign at most. */
export const maxFormerSecrets = 10

const longest = { url: 2_000, description: 2_000 } as const

const refuse = (field: string, sentence: string) => new Refusal('BAD_USER_INPUT', `${field} ${sentence}`, { field })

/**
 * An address that can be told something, without the part that no request carries.
 * @throws BAD_USER_INPUT for what is none, or names a user
 */
export function readUrl(given: string): string {
  const text = checkText(given.trim(), 'url')
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refuse('url', 'is no address of the web: it begins with https://.')
  if (url.username || url.password) throw refuse('url', 'holds a password: leave it out, and check the signature instead.')
  url.hash = ''
  if (url.href.length > longest.url) throw refuse('url', `has ${url.href.length} characters: ${longest.url} are the most.`)
  return url.href
}

/** What is told there, each once, in our order. @throws BAD_USER_INPUT for none, and for one that is never told */
export function readEvents(given: readonly string[]): readonly string[] {
  const strange = given.find(name => !(webhookEvents as readonly string[]).includes(name))
  if (strange !== undefined) throw refuse('events', `holds ${strange.slice(0, 60)}, which is never told: choose of ${webhookEvents.join(', ')}.`)
  const chosen = webhookEvents.filter(name => given.includes(name))
  if (chosen.length === 0) throw refuse('events', `is empty: choose of ${webhookEvents.join(', ')}.`)
  return chosen
}

/** @throws BAD_USER_INPUT when it is too long */
export function readDescription(given: string | null | undefined): string | null {
  const text = checkText(given?.trim() ?? '', 'description')
  const { length } = [...text]
  if (length > longest.description) throw refuse('description', `has ${length} characters: ${longest.description} are the most.`)
  return text || null
}

/** Whether an address came with its brand from another organization and waits for the present one's word. */
export const isResting = (
  { active, organizationId }: Pick<WebhookEndpointRow, 'active' | 'organizationId'>,
  brand: Pick<BrandRow, 'organizationId'>,
): boolean => active && organizationId !== brand.organizationId

/** Why nothing is told to an address, in a sentence; null when it is. */
export function silenceOf(endpoint: WebhookEndpointRow, brand: Pick<BrandRow, 'organizationId'>): string | null {
  if (!endpoint.active) return endpoint.disabledReason ?? 'Somebody switched it off.'
  return !isResting(endpoint, brand)
    ? null
    : 'The brand has come from another organization: look at the address, confirm it, and rotate its secret if the former organization is to sign nothing more.'
}

/** What a try came to: the status of an answer, or null when none came. */
export type Answered = number | null

interface Concluded {
  readonly delivery: Partial<WebhookDeliveryRow>
  /** Why nothing more is told there; null when it goes on. */
  readonly disabledReason: string | null
}

/** What follows from a try. 410 means that the address is wanted no more; past the last try it is given up as well. */
export function conclude({ attempts }: Pick<WebhookDeliveryRow, 'attempts'>, status: Answered, now: Date): Concluded {
  const over = { responseStatus: status, nextAttemptAt: null }
  if (status !== null && status >= 200 && status < 300) return { delivery: { ...over, status: 'DELIVERED' }, disabledReason: null }
  if (status === 410) return { delivery: { ...over, status: 'FAILED' }, disabledReason: 'It answered 410: it is wanted no more.' }
  const pause = pauses[attempts]
  if (pause !== undefined) return { delivery: { responseStatus: status, nextAttemptAt: new Date(now.getTime() + pause) }, disabledReason: null }
  const last = status === null ? 'the last time without any answer' : `the last time with ${status}`
  return { delivery: { ...over, status: 'FAILED' }, disabledReason: `${attempts} tries over three days failed, ${last}.` }
}

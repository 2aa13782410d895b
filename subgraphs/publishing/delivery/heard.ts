import type { Delivery, Handle, Lookup } from '../network/publication.ts'

// Stores an answer only if the network can have sent it: output of a proxy or a broken server is no answer.

/** Form of networks' ids: numbers, URNs, words with a few punctuation marks. */
const idForm = /^[\x21-\x7e]{1,200}$/
/** Maximum stored characters of a network's message, and of an address. */
const most = { words: 500, address: 2_000 } as const

/** Converts a network's message to one line that can be stored and shown. */
export const inOneLine = (words: unknown): string =>
  String(words)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .slice(0, most.words)

const isNamed = (id: unknown): id is string => typeof id === 'string' && idForm.test(id)

const addressIn = (permalink: unknown): string => {
  const isAddress = typeof permalink === 'string' && permalink.length <= most.address && /^https?:\/\//i.test(permalink) && URL.canParse(permalink)
  return isAddress ? permalink : ''
}

/** Normalizes a call's result for storage: a published post with an invalid id counts as no answer. */
export function heard<Answered extends Delivery>(delivery: Answered): Answered | Extract<Delivery, { outcome: 'unknown' }> {
  if (delivery.outcome !== 'delivered') return { ...delivery, detail: inOneLine(delivery.detail) }
  const { platformPostId, permalink } = delivery
  if (!isNamed(platformPostId)) return { outcome: 'unknown', detail: 'the network answered an id that can be none' }
  return { ...delivery, permalink: addressIn(permalink) }
}

/**
 * Normalizes a network's listed posts for storage. @throws for a post with an invalid id: then the network's answer is
 * unusable
 */
export function heardOf(lookup: Lookup): Lookup {
  if (!lookup.found) return lookup
  if (!isNamed(lookup.platformPostId)) throw new Error('the network lists a post under an id that can be none')
  return { ...lookup, permalink: addressIn(lookup.permalink) }
}

/** Whether a network's handle can be stored: PostgreSQL cannot store the NUL character. */
export const isKeepable = (handle: Handle): boolean => !JSON.stringify(handle).includes('\\u0000')

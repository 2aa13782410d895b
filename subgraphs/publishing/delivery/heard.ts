import type { Delivery, Handle, Lookup } from '../network/network.ts'

// Stores an answer only if the network can have sent it: output of a proxy or a broken server is no answer.

/** Ids as networks give them: numbers, URNs, words with a few signs. */
const idForm = /^[\x21-\x7e]{1,200}$/
/** How much of what a network says is kept, in characters, and of an address. */
const most = { words: 500, address: 2_000 } as const

/** A network's words as they can be kept and shown. */
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

/** How a call ended, as it is kept: published under what can be no id, it is as good as without an answer. */
export function heard<Answered extends Delivery>(delivery: Answered): Answered | Extract<Delivery, { outcome: 'unknown' }> {
  if (delivery.outcome !== 'delivered') return { ...delivery, detail: inOneLine(delivery.detail) }
  const { platformPostId, permalink } = delivery
  if (!isNamed(platformPostId)) return { outcome: 'unknown', detail: 'the network answered an id that can be none' }
  return { ...delivery, permalink: addressIn(permalink) }
}

/** A network's list as it is stored. @throws for a post under what can be no id: then the network does not tell */
export function heardOf(lookup: Lookup): Lookup {
  if (!lookup.found) return lookup
  if (!isNamed(lookup.platformPostId)) throw new Error('the network lists a post under an id that can be none')
  return { ...lookup, permalink: addressIn(lookup.permalink) }
}

/** Whether what a network gave to go on with can be kept: PostgreSQL has no form for a character of code 0. */
export const isKeepable = (handle: Handle): boolean => !JSON.stringify(handle).includes('\\u0000')

import { DomainError } from '../../errors.ts'
import { checkText, readText } from '../../ids.ts'
import { type Reaches, unanswered } from '../public.ts'

const longest = { url: 2_000, description: 2_000 } as const

const refuse = (field: string, sentence: string) => new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })

/**
 * Reads an address for webhooks, without the fragment, which requests do not carry.
 * @throws BAD_USER_INPUT for an invalid address, or one with a user name
 */
export function readUrl(given: string): string {
  const text = checkText(given.trim(), 'url')
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refuse('url', 'is no address of the web: it begins with https://.')
  if (url.username || url.password) throw refuse('url', 'holds a password: leave it out, and check the signature instead.')
  url.hash = ''
  if (url.href.length > longest.url) throw refuse('url', `has ${url.href.length} characters: the maximum is ${longest.url}.`)
  return url.href
}

/**
 * Reads the events that an endpoint receives, without duplicates, in our order.
 * @param events all existing ones
 * @throws BAD_USER_INPUT for an empty list, and for an unknown event
 */
export function readEvents<Event extends string>(given: readonly string[], events: readonly Event[]): readonly Event[] {
  const strange = given.find(name => !(events as readonly string[]).includes(name))
  if (strange !== undefined) throw refuse('events', `holds ${strange.slice(0, 60)}, which is never told: choose of ${events.join(', ')}.`)
  const chosen = events.filter(name => given.includes(name))
  if (chosen.length === 0) throw refuse('events', `is empty: choose of ${events.join(', ')}.`)
  return chosen
}

/** @throws BAD_USER_INPUT when it is too long */
export const readDescription = (given: string | null | undefined): string | null => readText(given, 'description', longest.description)

/** @throws BAD_USER_INPUT for an address that must not be called, or whose name cannot be resolved */
export async function requireReach({ reaches }: { readonly reaches: Reaches }, url: string): Promise<void> {
  const mayBeCalled = await reaches(new URL(url)).catch(unanswered('url'))
  if (!mayBeCalled) throw new DomainError('BAD_USER_INPUT', 'url lies on a private network, which is never called: name a public address.', { field: 'url' })
}

import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { checkText, requireName } from '../../../../platform/ids.ts'
import type { CreateProfileSourceInput } from '../../resolvers.generated.ts'
import type { ProfileSourceRow } from '../../stores/profile-source.ts'

/** What a profile's sources may hold, and how many one person may have waiting to be fetched; a text is counted in UTF-16 code units, as places in it are. */
export const most = { sources: 500, text: 200_000, title: 200, url: 2_000, waiting: 100 } as const

/** `sha256:` and the hash of a text as UTF-8. */
export const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`

/** What a new source is made of, and its text when it was given. */
export interface NewSource {
  readonly row: Pick<ProfileSourceRow, 'kind' | 'title' | 'url' | 'contentHash' | 'language' | 'status' | 'fetchAt'>
  readonly text: string | null
}

/** Reads what a source is made of. @throws BAD_USER_INPUT with the `field` that cannot be */
export function readSource({ kind, title, text, url, language }: CreateProfileSourceInput, now: Date): NewSource {
  const given = { kind, title: requireName(title, 'title', most.title), language: readLanguage(language) }
  if (typeof text === 'string' && !url) {
    const found = requireText(text)
    return { row: { ...given, url: null, contentHash: hashOf(found), status: 'READY', fetchAt: null }, text: found }
  }
  if (typeof text === 'string' || !url)
    throw new DomainError('BAD_USER_INPUT', 'A source has exactly one of text and url: leave the other one out.', { field: 'text' })
  return { row: { ...given, url: requireAddress(url), contentHash: null, status: 'PROCESSING', fetchAt: now }, text: null }
}

function requireText(text: string): string {
  if (text.trim() === '') throw new DomainError('BAD_USER_INPUT', 'text has no words in it: give what the person wrote or said.', { field: 'text' })
  if (text.length > most.text)
    throw new DomainError('BAD_USER_INPUT', `text has ${text.length} characters: the maximum is ${most.text}, so add it in parts.`, { field: 'text' })
  return checkText(text, 'text')
}

function requireAddress({ protocol, username, password, href }: URL): string {
  const isWeb = protocol === 'https:' || protocol === 'http:'
  if (isWeb && !username && !password && href.length <= most.url) return href
  throw new DomainError('BAD_USER_INPUT', `url takes an address of http or https with at most ${most.url} characters, and no password in it.`, { field: 'url' })
}

function readLanguage(language: string | null | undefined): string | null {
  if (language === null || language === undefined) return null
  if (language.length <= 35 && /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/.test(language)) return language
  throw new DomainError('BAD_USER_INPUT', 'language takes a language tag such as "en" or "de-AT".', { field: 'language' })
}

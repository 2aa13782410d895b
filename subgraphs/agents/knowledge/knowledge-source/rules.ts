import { DomainError } from '../../../../platform/errors.ts'
import { checkText, requireName } from '../../../../platform/ids.ts'
import { maxText } from '../../engines/knowledge/indexing.ts'
import type { KnowledgeActionInput } from '../../resolvers.generated.ts'
import type { KnowledgeAction, KnowledgeKind, Visibility } from '../../stores/knowledge/knowledge-source.ts'

/** What an organization's knowledge may hold. */
export const limits = { sources: 2_000, sourcesADay: 1_000, title: 200, url: 2_000, actions: 10, label: 100 } as const

type Maybe<Value> = Value | null | undefined

const refuse = (field: string, message: string): never => {
  throw new DomainError('BAD_USER_INPUT', message, { field })
}

/** Reads a title. @throws BAD_USER_INPUT */
export const readTitle = (title: string): string => requireName(title, 'title', limits.title)

/** Reads a text that is to be indexed. @throws BAD_USER_INPUT for one without words, or longer than the limit */
export function readKnowledgeText(text: string): string {
  if (text.trim() === '') refuse('text', 'text has no words in it: give what people are to be answered from.')
  if (text.length > maxText) refuse('text', `text has ${text.length} characters: the maximum is ${maxText}, so add it in parts.`)
  return checkText(text, 'text')
}

/** Reads an address that browsers open. @throws BAD_USER_INPUT with the field */
export function readAddress({ protocol, username, password, href }: URL, field: string): string {
  const isWeb = protocol === 'https:' || protocol === 'http:'
  if (isWeb && !username && !password && href.length <= limits.url) return href
  return refuse(field, `${field} takes an address of http or https with at most ${limits.url} characters, and no password in it.`)
}

/** Reads a language tag; null for none. @throws BAD_USER_INPUT */
export function readLanguage(language: Maybe<string>): string | null {
  if (language === null || language === undefined) return null
  if (language.length <= 35 && /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/.test(language)) return language
  return refuse('language', 'language takes a language tag such as "en" or "de-AT".')
}

/** Schemes that run code or read files where an app opens them. */
const dangerous = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'filesystem:', 'view-source:'])

function readAppAddress(url: Maybe<URL>, field: string): string | null {
  if (!url) return null
  if (dangerous.has(url.protocol) || url.href.length > limits.url)
    refuse(field, `${field} takes an address that opens an app, with at most ${limits.url} characters.`)
  return url.href
}

/** Reads actions. @throws BAD_USER_INPUT with the field, such as `actions[2].url` */
export function readActions(given: Maybe<readonly KnowledgeActionInput[]>): readonly KnowledgeAction[] {
  const list = given ?? []
  if (list.length > limits.actions) refuse('actions', `actions has ${list.length} entries: the maximum is ${limits.actions}.`)
  return list.map(({ kind, label, url, iosUrl, androidUrl }, at) => {
    const field = `actions[${at}]`
    if (kind !== 'DEEP_LINK' && (iosUrl || androidUrl)) refuse(`${field}.iosUrl`, `${field}: only a DEEP_LINK has iosUrl and androidUrl.`)
    return {
      kind,
      label: requireName(label, `${field}.label`, limits.label),
      url: readAddress(url, `${field}.url`),
      iosUrl: readAppAddress(iosUrl, `${field}.iosUrl`),
      androidUrl: readAppAddress(androidUrl, `${field}.androidUrl`),
    }
  })
}

/** Checks that people can open what a public source is quoted from. @throws BAD_USER_INPUT */
export function requireReadable(url: string | null, visibility: Visibility): void {
  if (visibility === 'PUBLIC' && url === null) refuse('url', 'A PUBLIC source needs a url, where people read it.')
}

/** Checks that a source of a kind is given what it is made of. @throws BAD_USER_INPUT */
export function requireMaterial(kind: KnowledgeKind, text: Maybe<string>, url: Maybe<URL>): void {
  if (kind === 'UPLOAD') refuse('kind', 'Files are uploaded at POST /agents/api/knowledge-sources/uploads: kind takes TEXT or URL.')
  if (kind === 'TEXT' && typeof text !== 'string') refuse('text', 'A TEXT source needs text.')
  if (kind === 'URL' && typeof text === 'string') refuse('text', 'The text of a URL source is read from its address: leave text out.')
  if (kind === 'URL' && !url) refuse('url', 'A URL source needs url.')
}

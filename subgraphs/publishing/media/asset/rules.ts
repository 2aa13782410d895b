import { Refusal } from '../../../../platform/errors.ts'
import { isNamable, readText, requireName } from '../../../../platform/ids.ts'
import { eachOnce } from '../../stores/post.ts'

/** The most of what people write about media: characters of each, and tags. */
export const longest = { title: 100, altText: 2000, tag: 50, search: 200 } as const
export const mostTags = 20

/** An alternative text; null for none, and for one without words. @throws BAD_USER_INPUT */
export const readAltText = (given: string | null | undefined): string | null => readText(given, 'altText', longest.altText)

/** A title; null for none. @throws BAD_USER_INPUT */
export const readTitle = (given: string | null | undefined): string | null => (given?.trim() ? requireName(given, 'title', longest.title) : null)

/** Tags without blanks around them, each once whatever the case of its letters, in the order in which they were given. @throws BAD_USER_INPUT */
export function readTags(given: readonly string[] | null | undefined): readonly string[] {
  const tags = eachOnce((given ?? []).map(tag => tag.trim()))
  if (tags.length > mostTags) throw new Refusal('BAD_USER_INPUT', `There are ${tags.length} tags: ${mostTags} are the most.`, { field: 'tags' })
  const wrong = tags.find(tag => tag === '' || [...tag].length > longest.tag || !isNamable(tag))
  if (wrong !== undefined)
    throw new Refusal('BAD_USER_INPUT', `A tag has 1 to ${longest.tag} characters on one line, and "${[...wrong].slice(0, longest.tag).join('')}" is none.`, {
      field: 'tags',
    })
  return tags
}

/** Words to look for; null for none. @throws BAD_USER_INPUT */
export const readSearch = (given: string | null | undefined): string | null => readText(given, 'search', longest.search)

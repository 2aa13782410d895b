import { DomainError } from '../../../../platform/errors.ts'
import { isNamable, readText, requireName } from '../../../../platform/ids.ts'
import { eachOnce } from '../../stores/post.ts'

/** Maximum lengths of texts about media, in characters, and maximum number of tags. */
export const longest = { title: 100, altText: 2000, tag: 50, search: 200 } as const
export const mostTags = 20

/** Reads an alternative text; null when it is absent or blank. @throws BAD_USER_INPUT */
export const readAltText = (given: string | null | undefined): string | null => readText(given, 'altText', longest.altText)

/** A title; null for none. @throws BAD_USER_INPUT */
export const readTitle = (given: string | null | undefined): string | null => (given?.trim() ? requireName(given, 'title', longest.title) : null)

/** Reads tags: trimmed, without duplicates that differ in case only, in the given order. @throws BAD_USER_INPUT */
export function readTags(given: readonly string[] | null | undefined): readonly string[] {
  const tags = eachOnce((given ?? []).map(tag => tag.trim()))
  if (tags.length > mostTags) throw new DomainError('BAD_USER_INPUT', `There are ${tags.length} tags: the maximum is ${mostTags}.`, { field: 'tags' })
  const wrong = tags.find(tag => tag === '' || [...tag].length > longest.tag || !isNamable(tag))
  if (wrong !== undefined)
    throw new DomainError(
      'BAD_USER_INPUT',
      `A tag has 1 to ${longest.tag} characters on one line, and "${[...wrong].slice(0, longest.tag).join('')}" is none.`,
      {
        field: 'tags',
      },
    )
  return tags
}

/** Reads a search text; null when it is absent. @throws BAD_USER_INPUT */
export const readSearch = (given: string | null | undefined): string | null => readText(given, 'search', longest.search)

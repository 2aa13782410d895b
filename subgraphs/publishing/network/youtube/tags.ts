/** What YouTube takes as tags, in characters (https://developers.google.com/youtube/v3/docs/videos#snippet.tags[], read 2026-11-24). */
export const maxTagCharacters = 500

/** The tags that fit: those with a blank are written in quotes, and commas stand between. */
export function tagsWithin(tags: readonly string[]): readonly string[] {
  let left = maxTagCharacters + 1
  return tags.filter(tag => {
    const length = [...tag].length + (tag.includes(' ') ? 2 : 0) + 1
    if (length > left || /[<>]/.test(tag)) return false
    left -= length
    return true
  })
}

/**
 * Size limit of all tags on YouTube, in characters
 * (https://developers.google.com/youtube/v3/docs/videos#snippet.tags[], read 2026-11-24).
 */
export const maxTagCharacters = 500

/** Returns the tags that fit the limit: YouTube counts quotes around tags with blanks, and commas between tags. */
export function tagsWithin(tags: readonly string[]): readonly string[] {
  let left = maxTagCharacters + 1
  return tags.filter(tag => {
    const length = [...tag].length + (tag.includes(' ') ? 2 : 0) + 1
    if (length > left || /[<>]/.test(tag)) return false
    left -= length
    return true
  })
}

/** Tags without those that differ from an earlier one by the case of their letters alone. */
export function eachOnce(tags: readonly string[]): readonly string[] {
  const known = new Set<string>()
  return tags.filter(tag => {
    const isNew = !known.has(tag.toLowerCase())
    known.add(tag.toLowerCase())
    return isNew
  })
}

/** The condition that a row has a tag, whatever the case of its letters; an index has it. */
export const hasTag = (table: string, tag: string): string => `publishing.folded(${table}.tags) @> array[lower(${tag})] and ${table}.tags <> '{}'`

/** Takes names of callers' own making as labels, as long as they are not too many. @returns the name, or `other` */
export type Names = (name: string) => string

/** The label of whatever comes past the bound. */
export const otherName = 'other'

/** Characters of the longest name that is told apart: each stands in seventeen lines of a histogram, and in every log line of its operations. */
const longest = 100

/** Makes what bounds a label. @param most how many names are told apart; the next ones are all `other`, as those that are very long */
export function createNames(most: number): Names {
  const known = new Set<string>()
  return name => {
    if (known.has(name)) return name
    if (known.size >= most || name.length > longest) return otherName
    known.add(name)
    return name
  }
}

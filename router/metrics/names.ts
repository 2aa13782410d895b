/** Bounds the number of label values that callers can create. @returns the name, or `other` */
export type Names = (name: string) => string

/** Label for names above the maximum number. */
export const otherName = 'other'

/**
 * Maximum characters of a name: each name occurs in seventeen lines of a histogram, and in every log line of its
 * operations.
 */
const longest = 100

/** Creates a bound on label values. @param most number of distinct names; further and very long ones become `other` */
export function createNames(most: number): Names {
  const known = new Set<string>()
  return name => {
    if (known.has(name)) return name
    if (known.size >= most || name.length > longest) return otherName
    known.add(name)
    return name
  }
}

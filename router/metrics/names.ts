/** Takes names of callers' own making as labels, as long as they are not too many. @returns the name, or `other` */
export type Names = (name: string) => string

/** The label of whatever comes past the bound. */
export const otherName = 'other'

/** Makes what bounds a label. @param most how many names are told apart; the next ones are all `other` */
export function createNames(most: number): Names {
  const known = new Set<string>()
  return name => {
    if (known.has(name)) return name
    if (known.size >= most) return otherName
    known.add(name)
    return name
  }
}

/** The same ids with one of them at another place; places beyond either end are the end. */
export function movedTo(ids: readonly string[], id: string, place: number): readonly string[] {
  const others = ids.filter(each => each !== id)
  if (others.length === ids.length) return ids
  return others.toSpliced(Math.max(0, Math.min(place, others.length)), 0, id)
}

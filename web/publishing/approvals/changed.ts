interface Version {
  readonly version: number
  readonly copy: string
}

/** The text that those who approve saw last: the newest version that says something else than the post does now; null for one that never said anything else. */
export function textBefore(copy: string, versions: readonly Version[]): string | null {
  return versions.toSorted((a, b) => b.version - a.version).find(each => each.copy !== copy)?.copy ?? null
}

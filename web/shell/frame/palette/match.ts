import type { ComponentType } from 'react'

/** Something that the palette leads to. */
export interface Way {
  readonly id: string
  readonly name: string
  readonly to: string
}

/** Ways whose names hold every word that was typed, those that begin with it first. */
export function matching(ways: readonly Way[], typed: string): readonly Way[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const found = ways.filter(({ name }) => words.every(word => name.toLowerCase().includes(word)))
  const begins = ({ name }: Way) => (words[0] !== undefined && name.toLowerCase().startsWith(words[0]) ? 0 : 1)
  return found.toSorted((a, b) => begins(a) - begins(b))
}

/** Finds records of an app by what is typed, and hands them on. */
export type FindRecords = ComponentType<{ readonly typed: string; onFound(ways: readonly Way[]): void }>

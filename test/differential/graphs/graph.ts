import type { Part } from '../../engine/supergraph-fixture.ts'

export type Resolvers = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A small supergraph with the resolvers of one schema that holds all of it. */
export interface PurposeGraph {
  readonly parts: Readonly<Record<string, Part>>
  /** Resolvers for one schema: same data, no federation. */
  readonly whole: Resolvers
  /** What arguments are given, by the argument's name. */
  readonly values: Readonly<Record<string, readonly unknown[]>>
  /** Which fields are made to fail. @default all that no other field needs */
  readonly mayFail?: (field: string) => boolean
  /** Whether the stock gateway is asked too: not where it is wrong or slow more often than not. @default true */
  readonly stock?: boolean
  /** Puts the data back as it was, for graphs that can be changed. */
  readonly reset?: () => void
}

/** Joins resolvers by type; later ones win. */
export function joined(...maps: readonly Resolvers[]): Resolvers {
  const all: Record<string, Record<string, unknown>> = {}
  for (const map of maps) for (const [type, fields] of Object.entries(map)) all[type] = { ...all[type], ...fields }
  return all
}

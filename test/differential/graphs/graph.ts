import type { Part } from '../../engine/supergraph-fixture.ts'

export type Resolvers = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A small supergraph with the resolvers of one schema that holds all of it. */
export interface PurposeGraph {
  readonly parts: Readonly<Record<string, Part>>
  /** Resolvers for one schema: same data, no federation. */
  readonly whole: Resolvers
  /** What arguments are given, by the argument's name. */
  readonly values: Readonly<Record<string, readonly unknown[]>>
  /** Whether fields are made to fail. @default true */
  readonly mayFail?: boolean
  /** Puts the data back as it was, for graphs that can be changed. */
  readonly reset?: () => void
}

/** Joins resolvers by type; later ones win. */
export function joined(...maps: readonly Resolvers[]): Resolvers {
  const all: Record<string, Record<string, unknown>> = {}
  for (const map of maps) for (const [type, fields] of Object.entries(map)) all[type] = { ...all[type], ...fields }
  return all
}

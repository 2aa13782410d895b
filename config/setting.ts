import type { z } from 'zod'

/** A way to start that reads a setting: everything in one process, a router (before subgraphs apart, or any), one subgraph; all of them as processes of one machine. */
export type Start = 'all' | 'router' | 'subgraph' | 'apart'

/** One environment variable: how it is parsed, its default, and its description for operators. */
export interface Setting<Value> {
  readonly name: string
  readonly reads: z.ZodType<Value, string>
  readonly fallback: Value
  /** What holds without it, as the operator's table says it. */
  readonly without: string
  /** Markdown; its first sentence is the one that `--help` prints. */
  readonly does: string
  /** Which processes read it. */
  readonly by: readonly Start[]
}

/** Settings by the name that the program knows them under. */
// biome-ignore lint/suspicious/noExplicitAny: each row has a value of its own kind
export type Family = Readonly<Record<string, Setting<any>>>

/** The values of a family's settings. */
export type Values<Rows extends Family> = { readonly [Key in keyof Rows]: Rows[Key] extends Setting<infer Value> ? Value : never }

interface Row<Value, Fallback> extends Omit<Setting<Value>, 'name' | 'reads' | 'fallback' | 'without'> {
  /** What holds without it; null: nothing. */
  readonly fallback: Fallback
  /** @default the fallback as it would be written */
  readonly without?: string
}

/** A row of a family's table. */
export function setting<Value, const Fallback extends Value | null>(
  name: string,
  reads: z.ZodType<Value, string>,
  { fallback, without = written(fallback), does, by }: Row<Value, Fallback>,
): Setting<Value | Fallback> {
  return { name, reads, fallback, without, does, by }
}

function written(fallback: unknown): string {
  if (fallback === false) return 'off'
  return fallback === null || (Array.isArray(fallback) && fallback.length === 0) ? 'none' : `\`${fallback}\``
}

/** The environment, without what is empty. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Reads the settings of one family; mistakes go into the list, a line each, and leave the fallback in place. */
export function readFamily<Rows extends Family>(family: Rows, given: Variables, mistakes: string[]): Values<Rows> {
  const values = Object.entries(family).map(([key, { name, reads, fallback }]) => {
    const text = given[name]
    if (text === undefined) return [key, fallback]
    const read = reads.safeParse(text)
    if (!read.success) mistakes.push(...read.error.issues.map(({ message }) => `${name}: ${message}`))
    return [key, read.success ? read.data : fallback]
  })
  return Object.fromEntries(values) as Values<Rows>
}

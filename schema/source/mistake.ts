import { type GraphQLError, getLocation, type Location } from 'graphql'

/** A mistake in the project's files, at the place where its author can correct it. */
export interface Mistake {
  /** Path from the project's root, with forward slashes. */
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1. */
  readonly column: number
  /** Code of the mistake: composition's own, or one of ours in the same form. */
  readonly code: string
  readonly text: string
}

/** Prints a mistake in the form that editors and terminals turn into a link: `file:line:column CODE text`. */
export const printMistake = ({ file, line, column, code, text }: Mistake): string => `${file}:${line}:${column} ${code} ${text}`

/** Thrown by generation and checks when the project's own files contain mistakes; its message is the printed list. */
export class Mistakes extends Error {
  readonly list: readonly Mistake[]

  constructor(list: readonly Mistake[]) {
    super(list.map(printMistake).join('\n'))
    this.name = 'Mistakes'
    this.list = list
  }
}

/** A mistake about a whole file, or about one that is missing. */
export const inFile = (file: string, code: string, text: string): Mistake => ({ file, line: 1, column: 1, code, text })

/** A mistake at a piece of parsed SDL; the source's name is the file. */
export function at(location: Location, code: string, text: string): Mistake {
  const { line, column } = getLocation(location.source, location.start)
  return { file: location.source.name, line, column, code, text }
}

/** Places an error that graphql-js raised about a named source, such as a syntax error. */
export function ofSource(error: GraphQLError, code: string): Mistake {
  const place = error.locations?.[0] ?? { line: 1, column: 1 }
  return { file: error.source?.name ?? 'unknown', line: place.line, column: place.column, code, text: error.message }
}

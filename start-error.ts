/**
 * A mistake of the surroundings, not of the program: a folder that cannot be written, a wrong address, a changed file.
 * Its message is one line that says what is wrong and what to do; the program prints that line alone and exits with 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly about: 'schema' | null

  /**
   * @param message one line without secrets
   * @param cause   what was thrown below, for whoever debugs; never printed
   * @param about   `schema`: the database was migrated by another version than this; an empty one would do
   */
  constructor(message: string, cause?: unknown, about: 'schema' | null = null) {
    super(message, cause === undefined ? undefined : { cause })
    this.about = about
  }
}

/** The first line of whatever was thrown, without a stack. */
export const lineOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!

/** The operating system's code (`EACCES`) or the SQLSTATE (`28P01`) of whatever was thrown; '' when it has none. */
export function systemCodeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}

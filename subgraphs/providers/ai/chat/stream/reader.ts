import type { Written } from '../../counting/sample.ts'
import type { ReportedUsage, Tokens } from '../completion.ts'

/**
 * Converts a provider's stream to our events. Lines are bytes, one character for each (latin1): forwarded data is
 * neither decoded nor parsed.
 */
export interface EventReader {
  /**
   * Processes one line.
   * @returns events for the client, empty for none
   * @throws AttemptFailure for an error that the provider reports, and for a protocol violation
   */
  take(line: string): string
  /** Checks the end. @throws AttemptFailure when the provider had not finished */
  requireEnd(): void
  /** Returns the last events: the usage, where requested, and the end mark. */
  last(tokens: Tokens, costMicros: bigint | null): string
  /** Whether the answer is complete: further data of the provider is ignored. */
  readonly isDone: boolean
  /** Returns the usage so far, as the provider reports it, and the written text. */
  used(): Used
}

/** A provider's reported usage, and the text for counting it. */
export interface Used {
  readonly reported: ReportedUsage
  readonly written: () => Written
}

/** What readers know of a call. */
export interface Reading {
  /** Our name of the model. */
  readonly model: string
  readonly includeUsage: boolean
  /** Whether the answer must be one JSON object. */
  readonly wantsJson: boolean
  readonly now: Date
}

/** Returns a text's bytes, one character for each. */
export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** The text that bytes of a character each are. */
export const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** Returns the data of an event stream's line; null for a comment, an event's name, or an empty line. */
export function dataOf(line: string): string | null {
  if (!line.startsWith('data:')) return null
  const end = line.charCodeAt(line.length - 1) === 13 ? line.length - 1 : line.length
  return line.slice(line.charCodeAt(5) === 32 ? 6 : 5, end)
}

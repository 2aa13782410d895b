import type { Written } from '../../counting/sample.ts'
import type { Tokens, Told } from '../completion.ts'

/**
 * Makes events of ours of what a provider streams. Lines come and go as bytes, a character each (latin1): what passes through is neither
 * decoded nor parsed.
 */
export interface EventReader {
  /**
   * Takes one line.
   * @returns events for the client, empty for none
   * @throws AttemptFailure for an error that the provider tells, and for what is not its protocol
   */
  take(line: string): string
  /** Takes the end. @throws AttemptFailure when the provider had not come to it */
  requireEnd(): void
  /** Returns the last events: what was used, where that is asked for, and the mark of the end. */
  last(tokens: Tokens): string
  /** Whether all of it is there: what the provider sends after that is nothing of ours. */
  readonly isDone: boolean
  /** What was used so far, as the provider says, and what it has written. */
  used(): Used
}

/** What a provider says that it used, and what it can be counted by. */
export interface Used {
  readonly told: Told
  readonly written: () => Written
}

/** What readers know of a call: nothing of what was asked. */
export interface Reading {
  /** Our name of the model. */
  readonly model: string
  readonly includeUsage: boolean
  /** Whether what is said has to be one JSON object. */
  readonly wantsJson: boolean
  readonly now: Date
}

/** Text as its bytes, a character each. */
export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** The text that bytes of a character each are. */
export const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** What a line of an event stream says; null for a comment, an event's name, or nothing. */
export function dataOf(line: string): string | null {
  if (!line.startsWith('data:')) return null
  const end = line.charCodeAt(line.length - 1) === 13 ? line.length - 1 : line.length
  return line.slice(line.charCodeAt(5) === 32 ? 6 : 5, end)
}

import { TooMuch } from '../errors.ts'

/**
 * How many elements of lists one walk through the data may meet, and one answer may have. Where fields of several subgraphs lead
 * back to each other, fetches stay small and what is put together out of them multiplies with every level.
 */
export const mostElements = 250_000

/** The remaining budget of list elements for one walk, merge or answer; created at its start and passed down. */
export interface Elements {
  left: number
}

export const countElements = (): Elements => ({ left: mostElements })

/** @throws TooManyElements */
export function takeElements(elements: Elements, count: number): void {
  elements.left -= count
  if (elements.left < 0) throw new TooManyElements()
}

export class TooManyElements extends TooMuch {
  constructor() {
    super(
      'BAD_USER_INPUT',
      `The answer would have more than ${mostElements} elements of lists; ask for fewer levels of lists within lists, or for shorter ones.`,
    )
  }
}

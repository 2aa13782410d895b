import { TooMuch } from '../errors.ts'

/**
 * Maximum number of list elements that one walk through the data may visit and one answer may hold. Where fields of
 * several subgraphs refer to each other, fetches stay small, but the merged data multiplies with every level.
 */
export const mostElements = 250_000

/** The remaining budget of list elements for one walk, merge or answer; created at its start and passed down. */
export interface Elements {
  left: number
}

export const countElements = (): Elements => ({ left: mostElements })

/** Takes list elements from the budget. @throws TooManyElements when the budget is used up */
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

import { Refusal } from '../../../platform/errors.ts'

/**
 * How many elements of lists one walk through the data may meet, and one answer may have. Where fields of several subgraphs lead
 * back to each other, fetches stay small and what is put together out of them multiplies with every level.
 */
const most = 250_000

/** What is left of it; walks and answers are made without a pause, so that one count serves all. */
export const elements = { left: most }

/** Begins to count anew. */
export const countElements = (): void => {
  elements.left = most
}

/** @throws TooManyElements */
export function takeElements(count: number): void {
  elements.left -= count
  if (elements.left < 0) throw new TooManyElements()
}

/** The operation asks for more than can be worked out or put together: no subgraph's fault, and the end of all of it. */
export class TooMuch extends Refusal {
  constructor(sentence: string) {
    super('BAD_USER_INPUT', sentence)
  }
}

export class TooManyElements extends TooMuch {
  constructor() {
    super(`The answer would have more than ${most} elements of lists; ask for fewer levels of lists within lists, or for shorter ones.`)
  }
}

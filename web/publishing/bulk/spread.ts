/** When each of several posts goes out: the first at a moment, each later one so many minutes after the one before. */
export const spread = (begin: Date, minutes: number, count: number): readonly Date[] =>
  Array.from({ length: count }, (_, at) => new Date(begin.getTime() + at * minutes * 60_000))

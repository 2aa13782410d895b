/** Reads a number of days from the command line. @throws Error in one sentence */
export function readDays(word: string): number {
  if (/^\d{1,4}$/.test(word) && Number(word) >= 1) return Number(word)
  throw new Error(`--days ${word} is no number of days from 1 to 9999`)
}

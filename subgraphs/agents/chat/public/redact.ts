/** Patterns that are removed from a text before it is stored, in this order: card numbers first, because they look like telephone numbers. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu, '[mail]'],
  [/(?<![\d\w])\d(?:[ -]?\d){12,18}(?!\d)/g, '[card]'],
  [/(?<![\d\w])(?:\+|00)\d(?:[ ()./-]{0,2}\d){6,14}(?!\d)/g, '[phone]'],
  [/(?<![\d\w])\(?0\d{1,5}\)?(?:[ ./-]{1,2}\d{2,}){1,5}(?!\d)/g, '[phone]'],
  [/(?<![\d\w])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)/g, '[phone]'],
]

/** Takes mail addresses, card and telephone numbers out of a text. */
export const redact = (text: string): string => marks.reduce((rest, [pattern, mark]) => rest.replace(pattern, mark), text)

/** Whether a message holds one of the words, as whole words, whatever their capitals. */
export function holdsBlocked(text: string, words: readonly string[]): boolean {
  const plain = text.normalize('NFKC').toLowerCase()
  return words.some(word => {
    const wanted = word
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(`(?<![\\p{L}\\p{N}])${wanted}(?![\\p{L}\\p{N}])`, 'u').test(plain)
  })
}

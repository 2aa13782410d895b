import twitterText from 'twitter-text'

/** The most that X takes, in weighted characters. */
export const mostWeight = 280

/** Number of UTF-16 units of text that X's own library counts in one call: its time grows with their square. */
const countedAtOnce = 500
/** Weight above which a text is far too long in any case: the rest is counted approximately in one pass. */
const exactUpTo = 4 * mostWeight

/**
 * Returns a text's length on X: weighted characters, where a URL counts 23, most letters 1, emoji and CJK 2
 * (https://docs.x.com/fundamentals/counting-characters). X's own library counts it in groups of words: links and emoji
 * contain no white space, so that weights of words add up.
 */
export function weightOf(copy: string): number {
  let weight = 0
  for (const words of wordsOf(copy))
    weight += weight > exactUpTo || words.length > longestWord ? weightInOnePass(words.normalize('NFC')) : twitterText.parseTweet(words).weightedLength
  return weight
}

/** Splits a text into parts that end with white space, as short as its words allow. */
function* wordsOf(copy: string): Generator<string> {
  let words = ''
  for (const [word] of copy.matchAll(/\S+\s*|\s+/g)) {
    if (words && words.length + word.length > countedAtOnce) {
      yield words
      words = ''
    }
    words += word
  }
  if (words) yield words
}

const links = /https?:\/\/[!-~]+/gi
const linkWeight = 23
/** Maximum length of a link on X: a longer text is no link. */
const longestLink = 4096
/** Maximum length of a word in UTF-16 units: a longer word may contain a link, and is no link itself. */
const longestWord = longestLink + 200
const emoji = /^\p{RGI_Emoji}$/v
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** Characters with weight 1 in the library's configuration; all others have weight 2. */
const isLight = (point: number) => point <= 4351 || (point >= 8192 && point <= 8205) || (point >= 8208 && point <= 8223) || (point >= 8242 && point <= 8247)

/** Returns a weight in one pass, which may be too high: only text that begins with a scheme counts as a link. */
function weightInOnePass(text: string): number {
  let weight = 0
  for (const [link] of text.matchAll(links)) weight += link.length > longestLink ? link.length : linkWeight
  for (const part of text.split(links))
    for (const { segment } of graphemes.segment(part)) {
      if (emoji.test(segment)) weight += 2
      else for (const character of segment) weight += isLight(character.codePointAt(0)!) ? 1 : 2
    }
  return weight
}

/**
 * Maximum number of cashtags, such as $TSLA, in a text (https://docs.x.com/x-api/posts/manage-tweets/introduction, read
 * 2026-11-24).
 */
const maxCashtags = 1

/** Returns why X refuses a text regardless of its length, in a sentence; null when it accepts it. */
export function objection(copy: string): string | null {
  if (!copy.trim() || weightOf(copy) > mostWeight) return null
  if (twitterText.hasInvalidCharacters(copy)) return 'The text holds characters that X does not take: remove control and direction characters.'
  const cashtags = twitterText.extractCashtags(copy).length
  return cashtags > maxCashtags ? `X takes ${maxCashtags} mark of a stock, such as $TSLA, in a text, and this one has ${cashtags}: leave some out.` : null
}

/** A text, with our links that X replaced by its own. */
export interface ListedText {
  readonly text: string
  readonly entities?: { readonly urls?: readonly { readonly url: string; readonly expanded_url?: string }[] } | undefined
}

/** Whether a listed post has the text we sent: X escapes `& < >`, replaces links by t.co ones, and trims. */
export function saysTheSame(listed: ListedText, copy: string): boolean {
  let text = listed.text
  // X appends the address of attached media to a text.
  for (const { url, expanded_url: expanded } of listed.entities?.urls ?? [])
    if (expanded) text = text.replaceAll(url, /\/status\/\d+\/(?:photo|video)\/\d+$/.test(expanded) ? '' : expanded)
  return plain(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')) === plain(copy)
}

/**
 * Normalizes what X changes in a text: schemes and trailing slashes of links, composed characters, white space at line
 * ends.
 */
function plain(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/https?:\/\/([^\s]+?)\/?(?=\s|$)/gi, '$1')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()
}

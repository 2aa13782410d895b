import twitterText from 'twitter-text'

/** The most that X takes, in weighted characters. */
export const mostWeight = 280

/** How many UTF-16 units of words X's own library is given at once: what it takes grows with the square of them. */
const countedAtOnce = 500
/** From this weight on a text is far too long whatever follows: the rest is counted in one pass. */
const exactUpTo = 4 * mostWeight

/**
 * The length of a text on X: weighted characters, a URL 23, most letters 1, emoji and CJK 2 (https://docs.x.com/fundamentals/counting-characters).
 * X's own library counts it, some words at a time: no address and no emoji holds white space, so weights of words add up.
 */
export function weightOf(copy: string): number {
  let weight = 0
  for (const words of wordsOf(copy))
    weight += weight > exactUpTo || words.length > longestWord ? weightInOnePass(words.normalize('NFC')) : twitterText.parseTweet(words).weightedLength
  return weight
}

/** A text in parts that end with white space, as short as its words allow. */
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
/** As X has it: what is longer is no link. */
const longestLink = 4096
/** In UTF-16 units: a longer word may hold a link, and is no link itself. */
const longestWord = longestLink + 200
const emoji = /^\p{RGI_Emoji}$/v
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** What counts 1, of the library's configuration; all else counts 2. */
const isLight = (point: number) => point <= 4351 || (point >= 8192 && point <= 8205) || (point >= 8208 && point <= 8223) || (point >= 8242 && point <= 8247)

/** A weight in one pass, which may be too high: what begins with a scheme, and that alone, is a link. */
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

/** How many marks of stocks, such as $TSLA, a text may have (https://docs.x.com/x-api/posts/manage-tweets/introduction, read 2026-11-24). */
const maxCashtags = 1

/** Why X would not take a text of any length, in a sentence; null when it would. */
export function objection(copy: string): string | null {
  if (!copy.trim() || weightOf(copy) > mostWeight) return null
  if (twitterText.hasInvalidCharacters(copy)) return 'The text holds characters that X does not take: remove control and direction characters.'
  const cashtags = twitterText.extractCashtags(copy).length
  return cashtags > maxCashtags ? `X takes ${maxCashtags} mark of a stock, such as $TSLA, in a text, and this one has ${cashtags}: leave some out.` : null
}

/** A text with the links of ours that X replaced by its own. */
export interface ListedText {
  readonly text: string
  readonly entities?: { readonly urls?: readonly { readonly url: string; readonly expanded_url?: string }[] } | undefined
}

/** Whether a listed post says what we wrote: X escapes `& < >`, replaces links by t.co ones, and trims. */
export function saysTheSame(listed: ListedText, copy: string): boolean {
  let text = listed.text
  // X appends the address of attached media to a text.
  for (const { url, expanded_url: expanded } of listed.entities?.urls ?? [])
    if (expanded) text = text.replaceAll(url, /\/status\/\d+\/(?:photo|video)\/\d+$/.test(expanded) ? '' : expanded)
  return plain(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')) === plain(copy)
}

/** A text without what X changes on its way: schemes and trailing slashes of links, composed characters, white space at line ends. */
function plain(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/https?:\/\/([^\s]+?)\/?(?=\s|$)/gi, '$1')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()
}

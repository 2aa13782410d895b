import twitterText from 'twitter-text'

/** The most that X takes, in weighted characters. */
export const mostWeight = 280

/** Up to so many UTF-16 units a text is counted as X's own library does; it takes minutes for long ones that are full of dots. */
const countedExactly = 500

/** The length of a text on X: weighted characters, a URL 23, most letters 1, emoji and CJK 2 (https://docs.x.com/fundamentals/counting-characters). */
export const weightOf = (copy: string): number =>
  copy.length > countedExactly ? weightOfLong(copy.normalize('NFC')) : twitterText.parseTweet(copy).weightedLength

const links = /https?:\/\/[!-~]+/gi
const linkWeight = 23
/** As X has it: what is longer is no link. */
const longestLink = 4096
const emoji = /^\p{RGI_Emoji}$/v
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** What counts 1, of the library's configuration; all else counts 2. */
const isLight = (point: number) => point <= 4351 || (point >= 8192 && point <= 8205) || (point >= 8208 && point <= 8223) || (point >= 8242 && point <= 8247)

/** The same in one pass, for texts that fit only with long links or composed emoji: what begins with a scheme, and that alone, is a link. */
function weightOfLong(text: string): number {
  let weight = 0
  for (const [link] of text.matchAll(links)) weight += link.length > longestLink ? link.length : linkWeight
  for (const part of text.split(links))
    for (const { segment } of graphemes.segment(part)) {
      if (emoji.test(segment)) weight += 2
      else for (const character of segment) weight += isLight(character.codePointAt(0)!) ? 1 : 2
    }
  return weight
}

/** Why X would not take a text of any length, in a sentence; null when it would. */
export const objection = (copy: string): string | null =>
  twitterText.hasInvalidCharacters(copy) && copy.trim() && weightOf(copy) <= mostWeight
    ? 'The text holds characters that X does not take: remove control and direction characters.'
    : null

/** A text with the links of ours that X replaced by its own. */
export interface ListedText {
  readonly text: string
  readonly entities?: { readonly urls?: readonly { readonly url: string; readonly expanded_url?: string }[] } | undefined
}

/** Whether a listed post says what we wrote: X escapes `& < >`, replaces links by t.co ones, and trims. */
export function saysTheSame(listed: ListedText, copy: string): boolean {
  let text = listed.text
  // X ends a text with an address of what it carries.
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

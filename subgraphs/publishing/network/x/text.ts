import twitterText from 'twitter-text'

/** The most that X takes, in weighted characters. */
export const mostWeight = 280

/** The length of a text on X: weighted characters, a URL 23, most letters 1, emoji and CJK 2 (https://docs.x.com/fundamentals/counting-characters). */
export const weightOf = (copy: string): number => twitterText.parseTweet(copy).weightedLength

/** Why X would not take a text of any length, in a sentence; null when it would. */
export function objection(copy: string): string | null {
  const { valid, weightedLength } = twitterText.parseTweet(copy)
  return valid || weightedLength > mostWeight || !copy.trim()
    ? null
    : 'The text holds characters that X does not take: remove control and direction characters.'
}

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

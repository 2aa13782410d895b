import twitterText from 'twitter-text'

/**
 * Why X would not take a text, in a sentence; null when it would. X counts weighted characters: a URL is 23, most
 * letters 1, emoji and CJK 2, 280 in all (https://docs.x.com/fundamentals/counting-characters).
 */
export function objection(copy: string): string | null {
  if (!copy.trim()) return 'The post has nothing to say: X takes no empty text. Write one, or keep the post as a draft.'
  const { valid, weightedLength } = twitterText.parseTweet(copy)
  if (weightedLength > 280) return `The text counts ${weightedLength} characters on X, which takes 280: shorten it, or make a thread of it.`
  if (!valid) return 'The text holds characters that X does not take: remove control and direction characters.'
  return null
}

/** A text with the links of ours that X replaced by its own. */
export interface ListedText {
  readonly text: string
  readonly entities?: { readonly urls?: readonly { readonly url: string; readonly expanded_url?: string }[] } | undefined
}

/** Whether a listed post says what we wrote: X escapes `& < >`, replaces links by t.co ones, and trims. */
export function saysTheSame(listed: ListedText, copy: string): boolean {
  let text = listed.text
  for (const { url, expanded_url: expanded } of listed.entities?.urls ?? []) if (expanded) text = text.replaceAll(url, expanded)
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

// Commentary is little text: https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format

const reserved = /[\\|{}@[\]()<>#*_~]/g
const hashtag = /(?<![\p{L}\p{N}_&/])#(?=[\p{L}\p{N}]*\p{L})([\p{L}\p{N}]+)(?![\p{L}\p{N}_])/gu

const escaped = (text: string): string => text.replaceAll(reserved, character => `\\${character}`)

/**
 * Escapes a text for LinkedIn, so that every character is kept: unescaped, the text would end at the first reserved
 * character. Hashtags stay links.
 */
export function toCommentary(text: string): string {
  let commentary = ''
  let end = 0
  for (const { 0: written, 1: word, index } of text.matchAll(hashtag)) {
    commentary += `${escaped(text.slice(end, index))}{hashtag|\\#|${word}}`
    end = index + written.length
  }
  return commentary + escaped(text.slice(end))
}

/** Returns a commentary as readers see it. */
export const fromCommentary = (commentary: string): string =>
  commentary
    .replaceAll(/\{hashtag\|\\?#\|((?:[^\\{}|]|\\.)*)\}/g, '#$1')
    .replaceAll(/@\[((?:[^\\\]]|\\.)*)\]\(urn:li:[^)]*\)/g, '$1')
    .replaceAll(/\\([\\|{}@[\]()<>#*_~])/g, '$1')

/** Whether a text listed by LinkedIn is the one we sent: LinkedIn trims texts and composes characters. */
export const isTheSame = (listed: string, sent: string): boolean => plain(listed) === plain(sent)

const plain = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()

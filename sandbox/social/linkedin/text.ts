// Little text: https://learn.microsoft.com/linkedin/marketing/community-management/shares/little-text-format

const reserved = '\\|{}@[]()<>#*_~'

/**
 * A commentary as a reader sees it: a reserved character stands for itself after a backslash only, templates of hashtags and mentions
 * show their words, and where a reserved character stands alone the text ends.
 */
export function readLittleText(commentary: string): string {
  let text = ''
  let rest = commentary
  while (rest !== '') {
    const [template, shown] = readTemplate(rest)
    if (template > 0) {
      text += shown
      rest = rest.slice(template)
      continue
    }
    const character = rest[0]!
    if (character === '\\' && rest.length > 1 && reserved.includes(rest[1]!)) {
      text += rest[1]
      rest = rest.slice(2)
      continue
    }
    if (reserved.includes(character)) return text
    text += character
    rest = rest.slice(1)
  }
  return text
}

/** How long a template at the beginning is, and what it shows; 0 where none stands. */
function readTemplate(rest: string): [number, string] {
  const hashtag = /^\{hashtag\|\\#\|((?:[^\\|{}]|\\.)+)\}/.exec(rest)
  if (hashtag) return [hashtag[0].length, `#${hashtag[1]!.replaceAll(/\\(.)/g, '$1')}`]
  const mention = /^@\[((?:[^\\[\]]|\\.)+)\]\(urn:li:(?:person|organization):[^)]+\)/.exec(rest)
  if (mention) return [mention[0].length, mention[1]!.replaceAll(/\\(.)/g, '$1')]
  const word = /^#[\p{L}\p{N}]+/u.exec(rest)
  return word ? [word[0].length, word[0]] : [0, '']
}

/** TypeScript source separated for rules about its text; all three texts have the length and lines of the source. */
export interface SourceText {
  /** Code with comments and the contents of literals blanked. */
  readonly code: string
  /** The contents of string and template literals, everything else blanked. */
  readonly literals: string
}

/**
 * Separates code, literals and comments. It recognizes strings, templates with their `${}` and comments, and
 * distinguishes a regular expression from a division by the text before it; it is no parser.
 */
export function takeApart(source: string): SourceText {
  const code = blank(source)
  const literals = blank(source)
  // One entry for each open `${`: the number of open braces inside it.
  const templates: number[] = []
  let before = ''
  let at = 0
  const literal = (end: (index: number) => boolean, stops: boolean): void => {
    for (; at < source.length && !end(at); at++) {
      if (source[at] === '\\') {
        literals[at] = source[at]!
        at++
      } else if (stops && source.startsWith('${', at)) return
      literals[at] = source[at]!
    }
  }
  const template = (): void => {
    literal(index => source[index] === '`', true)
    if (source.startsWith('${', at)) {
      templates.push(0)
      at += 2
    } else at++
    before = ')'
  }
  while (at < source.length) {
    const character = source[at]!
    if (source.startsWith('//', at)) {
      while (at < source.length && source[at] !== '\n') at++
    } else if (source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2)
      at = end < 0 ? source.length : end + 2
    } else if (character === "'" || character === '"') {
      code[at++] = character
      literal(index => source[index] === character || source[index] === '\n', false)
      if (source[at] === character) code[at++] = character
      before = ')'
    } else if (character === '`') {
      code[at++] = character
      template()
    } else if (character === '}' && templates.at(-1) === 0) {
      templates.pop()
      at++
      template()
    } else if (character === '/' && (/[(,=:[!&|?{};+\-*%<>~^]$/.test(before) || before === '' || /\b(?:return|typeof|case|in|of)$/.test(before))) {
      let inClass = false
      for (at++; at < source.length && source[at] !== '\n' && (inClass || source[at] !== '/'); at++) {
        if (source[at] === '\\') at++
        else if (source[at] === '[') inClass = true
        else if (source[at] === ']') inClass = false
      }
      at++
      before = ')'
    } else {
      if (character === '{' && templates.length > 0) templates[templates.length - 1]!++
      if (character === '}' && templates.length > 0) templates[templates.length - 1]!--
      code[at++] = character
      if (!/\s/.test(character)) before = (before + character).slice(-8)
      else if (/\w$/.test(before)) before = `${before} `.slice(-8).trimEnd()
    }
  }
  return { code: code.join(''), literals: literals.join('') }
}

const blank = (source: string): string[] => Array.from({ length: source.length }, (_, index) => (source[index] === '\n' ? '\n' : ' '))

/** Elements whose content nobody reads. */
const unread = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe'])
/** Elements that begin a line of their own. */
const blocks = new Set(
  'address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
)
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '…', rsquo: '’', ndash: '–', mdash: '—' }

/**
 * The text of a page, as somebody reads it: without markup, a block a paragraph. It goes through the page once, whatever that holds, and
 * is no judge of markup: what it cannot make sense of is left out.
 */
export function textOfPage(page: string): string {
  const parts: string[] = []
  const lower = page.toLowerCase()
  let at = 0
  while (at < page.length) {
    const open = page.indexOf('<', at)
    if (open < 0) break
    parts.push(page.slice(at, open))
    if (lower.startsWith('<!--', open)) {
      at = after(page, '-->', open + 4)
      continue
    }
    if (!beginsMarkup(lower.charCodeAt(open + 1))) {
      parts.push('<')
      at = open + 1
      continue
    }
    const name = /^<\/?([a-z][a-z0-9]*)|/.exec(lower.slice(open, open + 20))?.[1]
    at = after(page, '>', open + 1)
    if (name && blocks.has(name)) parts.push('\n\n')
    if (name && unread.has(name) && lower[open + 1] !== '/') {
      const close = lower.indexOf(`</${name}`, at)
      at = close < 0 ? page.length : after(page, '>', close)
    }
  }
  parts.push(page.slice(at))
  return tidy(decode(parts.join('')))
}

/** Whether a bracket begins markup, by the character behind it: a small letter, or one of `!`, `?` and `/`. Other brackets are text. */
const beginsMarkup = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || code === 0x21 || code === 0x3f || code === 0x2f

/** Where the page goes on after a mark; its end when there is none. */
function after(page: string, mark: string, from: number): number {
  const found = page.indexOf(mark, from)
  return found < 0 ? page.length : found + mark.length
}

const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name) return named[name.toLowerCase()] ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ''
  })

/** One blank between words, an empty line between paragraphs. */
const tidy = (text: string): string =>
  text
    .split(/\n\s*\n/)
    .map(paragraph => paragraph.split(/\s+/).filter(Boolean).join(' '))
    .filter(Boolean)
    .join('\n\n')

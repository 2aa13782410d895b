import { escaped } from '../../../http/html.ts'

/** Content of a mail, from which its text and its HTML are built. */
export interface Letter {
  readonly subject: string
  /** Paragraphs of the mail. */
  readonly says: readonly string[]
  /** Label and address of the mail's button, with a note. */
  readonly link?: { readonly label: string; readonly url: string; readonly note: string }
  /** Advice for a reader who did not cause the mail. */
  readonly closing: string
}

/** A mail's link with its end of validity. */
export interface Link {
  readonly url: string
  readonly endsAt: Date
}

/** Formats a moment: `22 November 2026, 18:37 UTC`. */
export const momentOf = (moment: Date): string =>
  `${moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })}, ${moment.toISOString().slice(11, 16)} UTC`

/** Note on every link's validity. */
export const onceUntil = ({ endsAt }: Link): string => `It works once, until ${momentOf(endsAt)}. A newer mail of this kind ends it.`

/**
 * Cleans a name for a line of text: removes line breaks, direction changes, and anything that mail programs turn into a
 * link, so that a chosen name cannot lead readers elsewhere.
 */
export const nameIn = (name: string): string =>
  [
    ...name
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu, ' ')
      .replaceAll('://', ' ')
      .replaceAll(/\.(?=\p{L}{2})/gu, '. ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  ]
    .slice(0, 200)
    .join('')

/** A mail address, for a line of text. */
export const addressIn = (address: string): string => address.replaceAll(/[\p{C}\p{Z}<>]/gu, '').slice(0, 254)

/** The letter as plain text. */
export const textOf = ({ says, link, closing }: Letter): string =>
  `${[...says, ...(link ? [`${link.label}:\n${link.url}`, link.note] : []), closing].join('\n\n')}\n`

const paragraph = (sentence: string): string => `<p>${escaped(sentence)}</p>`

/** Renders a mail as HTML, which loads nothing. */
export const htmlOf = ({ subject, says, link, closing }: Letter): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escaped(subject)}</title></head>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:2rem auto;padding:0 1rem">
${[
  ...says.map(paragraph),
  ...(link ? [`<p><a href="${escaped(link.url)}">${escaped(link.label)}</a></p>`, paragraph(link.note)] : []),
  paragraph(closing),
].join('\n')}
</body>
</html>
`

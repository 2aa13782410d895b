import { escaped } from '../../../http/html.ts'

/** What a mail says, once: its text and its HTML are both made of it. */
export interface Letter {
  readonly subject: string
  /** Sentences, a paragraph each. */
  readonly says: readonly string[]
  /** What to press, and what it is called; and what to know of it. */
  readonly link?: { readonly label: string; readonly url: string; readonly note: string }
  /** What to do if it was not the reader who caused it. */
  readonly closing: string
}

/** A link of a mail: where it leads, and until when. */
export interface Link {
  readonly url: string
  readonly endsAt: Date
}

/** `22 November 2026, 18:37 UTC` */
export const momentOf = (moment: Date): string =>
  `${moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })}, ${moment.toISOString().slice(11, 16)} UTC`

/** What holds of every link. */
export const onceUntil = ({ endsAt }: Link): string => `It works once, until ${momentOf(endsAt)}. A newer mail of this kind ends it.`

/**
 * A name that somebody gave, for a line of text: without what would break the line or turn what stands around it, and without what a mail
 * program would make a link of, for whoever chooses a name could lead people anywhere by a mail of ours.
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

/** The same as HTML: it loads nothing from anywhere. */
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

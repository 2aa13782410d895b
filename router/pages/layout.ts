import type { FastifyReply } from 'fastify'
import { escaped } from '../../subgraphs/http/html.ts'

/** Path of the pages' own files, which means the same on every host. */
export const assets = '/docs/assets'

/** A page of the platform's own. */
export interface Page {
  readonly title: string
  /** The page's main content as HTML: foreign text must pass through `escaped` first. */
  readonly content: string
  /** Paths of additional stylesheets and scripts of ours. */
  readonly styles?: readonly string[]
  readonly scripts?: readonly string[]
  /** Data attributes of the body, for the page's scripts. */
  readonly data?: Readonly<Record<string, string>>
  /**
   * Layout of the page: a text to read, a text above an application, or an application that fills the window below the
   * bar. @default text
   */
  readonly layout?: 'text' | 'above' | 'application'
  /** Additions to the content-security policy, for libraries that write their own styles or use workers. */
  readonly policy?: Readonly<Record<string, string>>
}

/** A link of the navigation bar: path and label. */
export type Bar = readonly (readonly [path: string, name: string])[]

/** Sends a page. @param current its path, which the bar highlights */
export type SendPage = (reply: FastifyReply, page: Page, current: string) => FastifyReply

const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
}

/**
 * Creates the function that sends pages below one bar. Pages load nothing from other origins and contain no inline
 * scripts.
 */
export function createSendPage(bar: Bar): SendPage {
  return (reply, page, current) => {
    const allowed = Object.entries({ ...policy, ...page.policy }).map(([directive, sources]) => `${directive} ${sources}`)
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': allowed.join('; '),
        'cache-control': 'private, no-cache',
        'referrer-policy': 'no-referrer',
      })
      .send(htmlOf(page, bar, current))
  }
}

function htmlOf({ title, content, styles = [], scripts = [], data = {}, layout = 'text' }: Page, bar: Bar, current: string): string {
  const link = ([path, name]: Bar[number]) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${name}</a>`
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escaped(value)}"`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Supergraph</title>
<link rel="icon" href="data:,">
${[...styles, `${assets}/house.css`].map(path => `<link rel="stylesheet" href="${path}">`).join('\n')}
${scripts.map(path => `<script src="${path}" defer></script>`).join('\n')}
</head>
<body${attributes.join('')}${layout === 'application' ? ' class="application"' : ''}>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><nav aria-label="Pages of the platform"><strong>Supergraph</strong> ${bar.map(link).join(' ')}</nav></header>
<main id="content" tabindex="-1"${layout === 'text' ? ' class="text"' : ''}>
${content}
</main>
</body>
</html>
`
}

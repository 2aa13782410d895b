const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Text as it may stand in HTML, in quotes too. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, character => escapes[character]!)

/** A sentence for people; a name in it is isolated, so that whatever it holds turns nothing around it. */
export type Sentence = string | readonly (string | { readonly name: string })[]

const written = (sentence: Sentence): string =>
  [sentence]
    .flat()
    .map(part => (typeof part === 'string' ? escaped(part) : isolated(part.name)))
    .join('')

/** A name that somebody gave, as HTML. */
export const isolated = (name: string): string => `<bdi>${escaped(name)}</bdi>`

/**
 * A small page that a subgraph shows by itself: a heading, a sentence, and whatever else it holds. It loads the platform's style sheet alone;
 * its address may hold a code, so it is kept by nobody and told to nobody.
 * @param content HTML; what comes from outside goes through `escaped` first
 */
export function htmlPage(status: number, title: string, sentence: Sentence, content = ''): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/docs/assets/house.css">
</head>
<body class="hosted"><main><p class="brand">Supergraph</p><h1>${escaped(title)}</h1><p>${written(sentence)}</p>${content}</main></body>
</html>
`
  const policy = "default-src 'none'; style-src 'self'; font-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': policy,
    },
  })
}

/**
 * Leads a browser on that has sent a form, to another origin perhaps. Not by a redirect: browsers hold every address that a form leads to against
 * its page's `form-action`, which is this origin alone.
 */
export function leavingPage(location: string, sentence: Sentence): Response {
  const answer = htmlPage(200, 'One moment', sentence, `<p><a href="${escaped(location)}">Go on</a></p>`)
  answer.headers.set('refresh', `0; url=${location}`)
  return answer
}

/** The longest form that is read, in bytes. */
const longestForm = 16 * 1024

/** Reads the form that a page sends; empty for anything else. */
export async function formOf(request: Request): Promise<URLSearchParams> {
  const body = await request.bytes()
  const isForm = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  return new URLSearchParams(isForm && body.byteLength <= longestForm ? new TextDecoder().decode(body) : '')
}

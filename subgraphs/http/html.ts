const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Escapes a text for HTML, also within quotes. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, character => escapes[character]!)

/**
 * A sentence for people; names in it are isolated, so that they cannot change the direction of the text around them.
 */
export type Sentence = string | readonly (string | { readonly name: string })[]

const written = (sentence: Sentence): string =>
  [sentence]
    .flat()
    .map(part => (typeof part === 'string' ? escaped(part) : isolated(part.name)))
    .join('')

/** Formats a name that a person chose, as HTML. */
export const isolated = (name: string): string => `<bdi>${escaped(name)}</bdi>`

/**
 * Returns a small page: a heading, a sentence, and further content. It loads only the platform's style sheet. Its
 * address may contain a code, so it is neither cached nor sent as a referrer.
 * @param content HTML; escape text from outside by `escaped` first
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
 * Returns a page that leads a browser on after it has sent a form, possibly to another origin. A redirect would not
 * work: browsers apply the page's `form-action`, which allows this origin only, to every redirect of a form.
 */
export function leavingPage(location: string, sentence: Sentence): Response {
  const answer = htmlPage(200, 'One moment', sentence, `<p><a href="${escaped(location)}">Go on</a></p>`)
  answer.headers.set('refresh', `0; url=${location}`)
  return answer
}

/** Maximum bytes of a form. */
const longestForm = 16 * 1024

/** Reads the form that a page sends; empty for any other body. */
export async function formOf(request: Request): Promise<URLSearchParams> {
  const body = await request.bytes()
  const isForm = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  return new URLSearchParams(isForm && body.byteLength <= longestForm ? new TextDecoder().decode(body) : '')
}

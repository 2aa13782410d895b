import { randomBytes } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { escaped } from '../../subgraphs/http/html.ts'

/** A page and its headers. */
export interface Page {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

const cdn = 'https://*.cdn.apollographql.com'

/**
 * Returns the page that a browser gets on `/graphql`: Apollo Sandbox, embedded, without telemetry
 * (https://www.apollographql.com/docs/graphos/platform/sandbox). It has its own content-security policy: under that of
 * the other pages Sandbox believes that it is offline.
 * @param publicUrl origin of the platform
 * @param variant name of a variant of the graph, at whose address the page is
 */
export function landingPage(publicUrl: string, variant?: string): Page {
  const nonce = randomBytes(16).toString('base64')
  const endpoint = `${publicUrl}/graphql${variant === undefined ? '' : `/${variant}`}`
  const socket = endpoint.replace(/^http/, 'ws')
  const policy = [
    "default-src 'self'",
    "base-uri 'self'",
    "object-src 'none'",
    "frame-ancestors 'self'",
    `script-src 'self' 'nonce-${nonce}' ${cdn}`,
    `style-src 'self' 'unsafe-inline' ${cdn} https://fonts.googleapis.com`,
    'font-src https://fonts.gstatic.com',
    `img-src 'self' data: ${cdn}`,
    `manifest-src ${cdn}`,
    'frame-src https://*.embed.apollographql.com',
    "connect-src 'self' ws: wss: https://*.apollographql.com",
  ].join('; ')
  // Content written into a script must not close the script element.
  const literal = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c')
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphQL · Apollo Sandbox</title>
<link rel="icon" href="data:,">
<style>
  body { margin: 0; display: flex; flex-direction: column; height: 100vh; font: 14px/1.5 system-ui, sans-serif; color: #15252d }
  header { padding: 8px 16px; background: #f4f6f8; border-bottom: 1px solid #d8dee3 }
  code { background: #e6ebef; padding: 1px 4px; border-radius: 3px }
  #sandbox { flex: 1; min-height: 0 }
  #sandbox iframe { width: 100%; height: 100%; border: 0 }
  #offline { padding: 16px }
</style>
</head>
<body>
<header><strong>Apollo Sandbox</strong> for <code>${endpoint}</code>. For subscriptions open the connection settings, set the address
<code>${socket}</code> and choose <code>graphql-ws</code> as implementation. Credentials go into the headers: <code>Authorization: Bearer …</code> or <code>X-API-Key</code>.</header>
<div id="sandbox"><p id="offline">Apollo Sandbox is loaded from Apollo’s servers. If this text stays, they cannot be reached from this browser; the endpoint
itself answers any GraphQL client.</p></div>
<script nonce="${nonce}" src="https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js"></script>
<script nonce="${nonce}">
  if (window.EmbeddedSandbox) {
    document.getElementById('offline').remove()
    new window.EmbeddedSandbox({
      target: '#sandbox',
      initialEndpoint: ${literal(endpoint)},
      initialSubscriptionEndpoint: ${literal(socket)},
      initialState: { includeCookies: true },
      runTelemetry: false,
      allowDynamicStyles: false,
    })
  }
</script>
</body>
</html>
`
  return { html, headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy, 'cache-control': 'no-store' } }
}

/** Answers a browser with a page where a program gets a problem document. */
export function sendRefusalPage(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  const title = STATUS_CODES[status] ?? 'Refused'
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/house.css">
</head>
<body class="hosted">
<main>
<p class="brand">Supergraph</p>
<h1>${title}</h1>
<p>${escaped(sentence)}</p>
<p><a href="/">Overview</a></p>
</main>
</body>
</html>
`)
}

import type { Reply } from '../network.ts'
import type { Account, Client, Manners } from './world.ts'

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1.5rem;margin-right:.5rem}small{color:#666}</style>
${body}
</html>
`

// No form-action: browsers would apply it to the redirect that follows the form, which leads to another origin.
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

/** The page on which the account allows or denies; its form comes back to the same address with `decision`. */
export function consentPage({ title, scopes: meanings }: Manners, client: Client, account: Account, scopes: readonly string[]): Reply {
  const wishes = scopes.map(scope => `<li>${escapeHtml(meanings[scope] ?? scope)} <small>${escapeHtml(scope)}</small></li>`).join('\n')
  const body = `<h1>${escapeHtml(title)}, played by the sandbox</h1>
<p><strong>${escapeHtml(client.name)}</strong> wants to access the account <strong>${escapeHtml(account.name)}</strong> (@${escapeHtml(account.username)}) and to:</p>
<ul>
${wishes}
</ul>
<form method="post"><button name="decision" value="approve">Approve</button><button name="decision" value="deny">Deny</button></form>
<p><small>Nothing here reaches the real ${escapeHtml(title)}.</small></p>`
  return { status: 200, headers, body: page('Authorize access · sandbox', body), outcome: 'read' }
}

/** The page for an authorization request that cannot be granted: the browser stays here, as on the network. */
export function refusalPage(reason: string): Reply {
  const body = `<h1>Something went wrong</h1>
<p>You weren’t able to give access to the App. Go back and try logging in again.</p>
<p><small>Sandbox: ${escapeHtml(reason)}</small></p>`
  return { status: 400, headers, body: page('Something went wrong · sandbox', body), outcome: 'refused', reason }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, one => entities[one]!)

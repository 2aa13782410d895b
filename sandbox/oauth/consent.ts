import type { Reply } from '../network.ts'
import { escapeHtml, pageHeaders as headers, page } from './page.ts'
import type { Account, Behaviour, Client } from './world.ts'

/**
 * Returns the page on which the account allows or denies access; its form is sent to the same address with `decision`.
 */
export function consentPage({ title, scopes: meanings }: Behaviour, client: Client, account: Account, scopes: readonly string[]): Reply {
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

/**
 * Returns the error page for an authorization request that cannot be granted; as on the real network, the browser is
 * not redirected.
 */
export function refusalPage(reason: string): Reply {
  const body = `<h1>Something went wrong</h1>
<p>You weren’t able to give access to the App. Go back and try logging in again.</p>
<p><small>Sandbox: ${escapeHtml(reason)}</small></p>`
  return { status: 400, headers, body: page('Something went wrong · sandbox', body), outcome: 'refused', reason }
}

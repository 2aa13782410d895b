import { escaped, htmlPage } from '../../http/html.ts'
import { setupPath } from './rules.ts'

/**
 * Renders the form for the first account; earlier input is shown again, except the password.
 * @param issuer another issuer that signs people in: then the form asks for no password
 */
export function setupForm(code: string, typed: URLSearchParams, issuer: string | null, mistake?: string): Response {
  const input = (name: string, label: string, type: string, autocomplete: string) =>
    `<label>${label}<input name="${name}" type="${type}" autocomplete="${autocomplete}" required value="${type === 'password' ? '' : escaped(typed.get(name) ?? '')}"></label>`
  const content = `<form method="post" action="${setupPath}">
<input type="hidden" name="code" value="${escaped(code)}">
${input('organization', 'Organization', 'text', 'organization')}
${input('name', 'Your name', 'text', 'name')}
${input('email', issuer === null ? 'Mail address' : 'Mail address of the first owner', 'email', 'username')}
${issuer === null ? input('password', 'Password, at least 12 characters', 'password', 'new-password') : ''}
<button>Set up</button>
</form>`
  return htmlPage(
    mistake ? 400 : 200,
    'Set up the platform',
    mistake ??
      (issuer === null
        ? 'This makes the first account. It owns the organization and may administer the platform.'
        : `People sign in at ${issuer}. The person who signs in there with this verified address owns the organization and administers the platform.`),
    content,
  )
}

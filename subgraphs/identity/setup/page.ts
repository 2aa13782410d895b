import { escaped, htmlPage } from '../../html.ts'
import { setupPath } from './rules.ts'

/** The form for the first account; what was typed before comes back, but the password. */
export function setupForm(code: string, typed: URLSearchParams, mistake?: string): Response {
  const input = (name: string, label: string, type: string, autocomplete: string) =>
    `<label>${label}<input name="${name}" type="${type}" autocomplete="${autocomplete}" required value="${type === 'password' ? '' : escaped(typed.get(name) ?? '')}"></label>`
  const content = `<form method="post" action="${setupPath}">
<input type="hidden" name="code" value="${escaped(code)}">
${input('organization', 'Organization', 'text', 'organization')}
${input('name', 'Your name', 'text', 'name')}
${input('email', 'Mail address', 'email', 'username')}
${input('password', 'Password, at least 12 characters', 'password', 'new-password')}
<button>Set up</button>
</form>`
  return htmlPage(
    mistake ? 400 : 200,
    'Set up the platform',
    mistake ?? 'This makes the first account. It owns the organization and may administer the platform.',
    content,
  )
}

import { setupPath } from './rules.ts'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replace(/[&<>"']/g, character => escapes[character]!)

/** A page of set-up: a heading, a sentence, and whatever else it holds. The address holds the code, so it is told to nobody. */
export function setupPage(status: number, title: string, sentence: string, content = ''): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:10vh auto;padding:0 1rem}h1{font-size:1.4rem}label{display:block;margin:.8rem 0}
input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.4rem}button{font:inherit;padding:.5rem 1.5rem}</style>
</head>
<body><h1>${escaped(title)}</h1><p>${escaped(sentence)}</p>${content}</body>
</html>
`
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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
  return setupPage(
    mistake ? 400 : 200,
    'Set up the platform',
    mistake ?? 'This makes the first account. It owns the organization and may administer the platform.',
    content,
  )
}

import { app } from '../place.ts'

/** An access token and its end. */
export interface Token {
  readonly accessToken: string
  readonly expiresAt: string
}

const key = `supergraph.${app}.session`

/** The token of this tab; null where there is none. */
export function readToken(): Token | null {
  try {
    const { accessToken, expiresAt } = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Token
    return { accessToken, expiresAt }
  } catch {
    return null
  }
}

/** Keeps a token for this tab; null forgets it. */
export function keepToken(token: Token | null): void {
  if (token) sessionStorage.setItem(key, JSON.stringify({ accessToken: token.accessToken, expiresAt: token.expiresAt }))
  else sessionStorage.removeItem(key)
}

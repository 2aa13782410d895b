import type { GatewayCacheHint } from '../types.ts'

/**
 * Reads the header `cache-control` of a subgraph's answer as a hint for the whole answer. Without a `max-age` the answer
 * may not be kept.
 */
export function hintOf(header: string | null | undefined): GatewayCacheHint {
  const hint: GatewayCacheHint = { maxAge: 0 }
  for (const part of header?.trim().split(/\s*,\s*/) ?? []) {
    const [name, value] = part.split(/\s*=\s*/, 2)
    const seconds = value?.replaceAll(/^"|"$/g, '')
    if (name === 'max-age' && seconds && /^\d+$/.test(seconds)) hint.maxAge = Number(seconds)
    else if (value === undefined && (name === 'private' || name === 'public'))
      hint.scope = name === 'private' || hint.scope === undefined ? name.toUpperCase() : hint.scope
  }
  return hint
}

/** Narrows the policy of the whole answer by one subgraph's header. @param policy of Apollo Server; anything else is ignored */
export function restrict(policy: unknown, header: string | null | undefined): void {
  if (typeof policy === 'object' && policy !== null && 'restrict' in policy) (policy as { restrict(hint: GatewayCacheHint): void }).restrict(hintOf(header))
}

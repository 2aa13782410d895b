import { createHash } from 'node:crypto'
import type { Viewer } from '../../../../subgraphs/viewer.ts'

/** When a label is active: always, never, for a share of requests, or where a header of the request is on. */
export type OverrideRule = boolean | { readonly percent: number } | { readonly header: string }

/** Rules by label. A label without one is active by its percentage, or else never. */
export type OverrideRules = ReadonlyMap<string, OverrideRule>

/** What decides on labels besides the rules. */
export interface OverrideSettings {
  /** Distinguishes the shares of viewers from those of other graphs; the same on all routers. */
  readonly salt: string
  /** Name of the header that identifies callers without an id; null for none. */
  readonly stickyHeader: string | null
  /** Whether a request may name labels itself (`x-graphql-override`). */
  readonly header: boolean
}

/** Which labels are active for one request; it never changes. */
export interface OverrideDecision {
  isActive(label: string): boolean
}

/** The parts of a request that decide on labels. */
export interface DecidedRequest {
  readonly viewer: Pick<Viewer, 'userId' | 'keyId' | 'appId'>
  readonly headers?: Headers | undefined
}

/** Name of the header by which a request decides on labels itself. */
export const overrideHeader = 'x-graphql-override'

const customLabel = /^[a-zA-Z][\w\-:./]*$/
const percentLabel = /^percent\((\d{1,2}(?:\.\d{1,8})?|100)\)$/
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/

/** Values of a header by which a label is active. */
const on: ReadonlySet<string> = new Set(['on', 'true', '1'])

/** Returns N of `percent(N)`; null for any other text. */
function percentIn(text: string): number | null {
  const [, percent] = percentLabel.exec(text) ?? []
  return percent === undefined ? null : Number(percent)
}

/**
 * Reads the rules of a file.
 * @throws Error that names what is wrong, to go on after the file's name
 */
export function readOverrideRules(text: string): OverrideRules {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new Error('it is not an object of labels and rules')
  return new Map(
    Object.entries(read).map(([label, rule]) => {
      if (!customLabel.test(label) && percentIn(label) === null) throw new Error(`${JSON.stringify(label)} cannot be a label of @override`)
      return [label, readRule(label, rule)]
    }),
  )
}

function readRule(label: string, rule: unknown): OverrideRule {
  if (typeof rule === 'boolean') return rule
  const percent = typeof rule === 'string' ? percentIn(rule) : null
  if (percent !== null) return { percent }
  const { header, ...others } = typeof rule === 'object' && rule !== null ? (rule as Readonly<Record<string, unknown>>) : {}
  if (typeof header === 'string' && headerName.test(header) && Object.keys(others).length === 0) return { header }
  throw new Error(`the rule of ${JSON.stringify(label)} is none of true, false, "percent(N)" and { "header": "name" }`)
}

/**
 * Reads `x-graphql-override: <label>=on, <label>=off`.
 * @returns null for a malformed value, or one that contradicts itself
 */
export function readOverrideHeader(value: string): ReadonlyMap<string, boolean> | null {
  const named = new Map<string, boolean>()
  for (const item of value.split(',')) {
    if (item.trim() === '') continue
    const [, label = '', state] = /^([^=\s]+)\s*=\s*(on|off)$/.exec(item.trim()) ?? []
    if (!customLabel.test(label) && percentIn(label) === null) return null
    if ((named.get(label) ?? state === 'on') !== (state === 'on')) return null
    named.set(label, state === 'on')
  }
  return named
}

/** Returns the number 0 ≤ p < 100, with eight decimals, that belongs to an id on every router with this salt. */
export const shareOf = (salt: string, id: string): number =>
  // 48 bits are exact in a number.
  eightDecimals(createHash('sha256').update(`${salt}\0${id}`).digest().readUIntBE(0, 6) / 2 ** 48)

const eightDecimals = (share: number): number => Math.floor(share * 1e10) / 1e8

/**
 * Decides on the labels of one request. In this order: the request's own header, the rules, and the percentage in the
 * label itself.
 * @param random number 0 ≤ x < 1, for requests of nobody in particular
 * @returns null for a malformed header
 */
export function decideOverrides(
  { viewer, headers }: DecidedRequest,
  rules: OverrideRules,
  { salt, stickyHeader, header: isOpen }: OverrideSettings,
  random: () => number = Math.random,
): OverrideDecision | null {
  const written = isOpen ? headers?.get(overrideHeader) : null
  const named = written ? readOverrideHeader(written) : undefined
  if (named === null) return null
  let drawn: number | undefined
  const share = (): number => {
    const { userId, keyId, appId } = viewer
    const id = userId ?? keyId ?? appId ?? (stickyHeader === null ? null : headers?.get(stickyHeader))
    drawn ??= id ? shareOf(salt, id) : eightDecimals(random())
    return drawn
  }
  return {
    isActive(label) {
      const rule = named?.get(label) ?? rules.get(label)
      if (typeof rule === 'boolean') return rule
      if (rule && 'header' in rule) return on.has(headers?.get(rule.header) ?? '')
      const percent = rule?.percent ?? percentIn(label)
      return percent !== null && share() < percent
    },
  }
}

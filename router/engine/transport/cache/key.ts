import { type Requirement as AccessRule, meets } from '../../../access/rules.ts'
import type { Data } from '../../data/merge.ts'
import type { FetchCall } from '../../engine.ts'

/** What of its viewer a part of an answer may depend on behind access rules. */
export interface Guard {
  readonly scopes: readonly string[]
  readonly policies: readonly string[]
}

/** Returns what access rules name; null where there is no rule. */
export function guardOf(rules: ReadonlySet<AccessRule>): Guard | null {
  if (rules.size === 0) return null
  const named = (kind: 'scopes' | 'policies') => [...new Set([...rules].flatMap(rule => (rule.kind === kind ? rule.any.flat() : [])))].sort()
  return { scopes: named('scopes'), policies: named('policies') }
}

/** Returns the organization of a viewer, and the verdict on what the rules name, as text. */
export function verdictOf({ scopes, policies }: Guard, { viewer }: Pick<FetchCall, 'viewer'>): string {
  const held = scopes.filter(scope => viewer.scopes.includes(scope))
  const met = policies.filter(name => meets({ id: 0, kind: 'policies', any: [[name]] }, viewer))
  return JSON.stringify([viewer.organizationId, viewer.kind === 'anonymous', held, met])
}

/** Writes a JSON value with the keys of its objects in order, so that equal values are equal texts. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const object = value as Data
  const keys = Object.keys(object).filter(key => object[key] !== undefined)
  if (keys.length > 1) keys.sort()
  return `{${keys.map(key => `${JSON.stringify(key)}:${canonical(object[key])}`).join()}}`
}

/** Writes a tag: `{$args.x}` and `{$key.x}` stand for values. @returns null where one of them is no plain value */
export function tagOf(format: string, values: { readonly args?: Data; readonly key?: Data }): string | null {
  let isWhole = true
  const text = format.replace(/\{\$(args|key)\.([\w.]+)\}/g, (_, of: 'args' | 'key', path: string) => {
    const value = path.split('.').reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Data)[name] : undefined), values[of])
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
    isWhole = false
    return ''
  })
  return isWhole ? text : null
}

import { DomainError } from '../../../platform/errors.ts'
import type { Viewer } from '../../viewer.ts'
import { customIn } from '../engines/models/candidates.ts'
import type { ProviderLevel } from '../resolvers.generated.ts'
import { type AiModelRow, type Capability, lifecycleOf } from '../stores/model/model.ts'

/** Maximum names in settings. */
export const most = { allowed: 100, chain: 10 } as const

const refusal = (field: string, sentence: string): DomainError => new DomainError('BAD_USER_INPUT', sentence, { field })

/** @throws FORBIDDEN for settings of the platform, unless the viewer is one of its super admins */
export function requireLevel({ kind, userId, roles }: Viewer, level: ProviderLevel): void {
  if (level === 'ORGANIZATION' || (kind === 'user' && userId !== null && roles.includes('platform_super_admin'))) return
  throw new DomainError(
    'FORBIDDEN',
    'Models of the platform are set by its super admins alone, in the organization "admin": ask one of them, or leave level out.',
  )
}

/**
 * Reads a list of distinct names.
 * @throws BAD_USER_INPUT with the `field` for too many, and for a repeated one
 */
export function readNames(names: readonly string[], field: string, atMost: number): readonly string[] {
  if (names.length > atMost) throw refusal(field, `${field} takes at most ${atMost} names.`)
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at)
  if (twice !== -1) throw refusal(`${field}[${twice}]`, `${field}[${twice}] names ${names[twice]} a second time: leave one of them out.`)
  return names
}

/** Names that can be set. */
export interface Settable {
  readonly capability: Capability
  /** Known models of these names. */
  readonly known: readonly AiModelRow[]
  /** Names that may be set; null for every known model. */
  readonly allowed: readonly string[] | null
  /** Names of the organization's custom providers. */
  readonly customs: readonly string[]
  readonly now: Date
}

/** @throws BAD_USER_INPUT with the `field` for an unknown name, another capability, a retired or disallowed model */
export function requireSettable(name: string, field: string, { capability, known, allowed, customs, now }: Settable): void {
  const custom = customIn(name)
  if (custom !== null && customs.includes(custom) && name.length <= 200) return
  const model = known.find(each => each.name === name)
  if (!model || (allowed !== null && !model.configured))
    throw refusal(field, `${field} names no model that is known here: give the whole name of one that is listed, such as openai/gpt-5-mini.`)
  if (model.capability !== capability) throw refusal(field, `${name} is for ${model.capability}, not for ${capability}: name another one.`)
  if (lifecycleOf(model, now) === 'RETIRED')
    throw refusal(field, `${name} has ended${model.replacement ? `, and ${model.replacement} has taken its place` : ''}: name another one.`)
  if (allowed !== null && !allowed.includes(name)) throw refusal(field, `${name} is not among the allowed models: have it allowed, or name another one.`)
}

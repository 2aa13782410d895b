import { DomainError } from '../../../../platform/errors.ts'
import { type AiModelRow, type Capability, type Lifecycle, lifecycleOf } from '../../stores/model/model.ts'
import type { SetModels } from '../../stores/model/settings.ts'
import { isProvider } from '../third-party/catalogue.ts'
import { type Prices, unpriced } from './prices.ts'

/** A model of the catalogue, or one of a custom provider. */
export interface AiModel extends Prices {
  /** Full name: `openai/gpt-5-mini`. */
  readonly name: string
  readonly provider: string
  /** The provider's name: `gpt-5-mini`. */
  readonly upstream: string
  readonly capability: Capability
  readonly lifecycle: Lifecycle
  readonly contextTokens: number | null
  readonly maxOutputTokens: number | null
  /** When its provider released it, or the platform first saw it; null for a custom provider's. */
  readonly createdAt: Date | null
  readonly retiresAt: Date | null
  /** A name. */
  readonly replacement: string | null
}

/** Requested model and options. */
export interface Asked {
  readonly capability: Capability
  /** Name as the caller wrote it; null, empty or `default`: the preferred model. */
  readonly named: string | null
  /** Whether others may answer where the first one fails. */
  readonly fallback: boolean
  /** Whether another image model than the preferred one may be named. */
  readonly mayOverride: boolean
}

/** Effective settings of one capability: the organization's own, else the platform's. */
export interface Effective {
  readonly preference: { readonly model: string; readonly isOwn: boolean } | null
  readonly allowed: readonly string[]
  readonly chain: { readonly models: readonly string[]; readonly isOwn: boolean }
}

export function effectiveOf(settings: readonly SetModels[], capability: Capability): Effective {
  const of = (isOwn: boolean) => settings.find(each => each.capability === capability && (each.organizationId !== null) === isOwn)
  const [own, platforms] = [of(true), of(false)]
  const preference = own?.preference ?? platforms?.preference ?? null
  return {
    preference: preference === null ? null : { model: preference, isOwn: Boolean(own?.preference) },
    allowed: own?.allowed ?? platforms?.allowed ?? [],
    chain: { models: own?.chain ?? platforms?.chain ?? [], isOwn: Boolean(own?.chain) },
  }
}

/** Returns the part before the first slash if it names a custom provider; null for every other name. */
export function customIn(name: string): string | null {
  const at = name.indexOf('/')
  const prefix = name.slice(0, Math.max(0, at))
  return prefix === '' || at === name.length - 1 || isProvider(prefix) ? null : prefix
}

/** Returns the provider's name for callers: a custom provider's own name, of which there may be any number. */
export const providerNameOf = ({ name, provider }: Pick<AiModel, 'name' | 'provider'>): string =>
  provider === 'custom' ? (customIn(name) ?? provider) : provider

const upstreamOf = (name: string): string => name.slice(name.indexOf('/') + 1)

/** Returns the models that a name may mean: itself, or every model with it as last part. */
export const namesOf = (name: string, known: readonly Pick<AiModelRow, 'name'>[]): readonly string[] => [
  name,
  ...known.flatMap(each => (upstreamOf(each.name) === name ? [each.name] : [])),
]

/** Converts a row for calls. */
export const modelOf = (row: AiModelRow, now: Date): AiModel => ({
  name: row.name,
  provider: row.provider,
  upstream: upstreamOf(row.name),
  capability: row.capability,
  lifecycle: lifecycleOf(row, now),
  contextTokens: row.contextTokens,
  maxOutputTokens: row.maxOutputTokens,
  createdAt: row.releasedAt ?? row.firstSeenAt,
  retiresAt: row.retiresAt,
  replacement: row.replacement,
  inputMicrosPerMillion: row.inputMicrosPerMillion,
  cacheReadMicrosPerMillion: row.cacheReadMicrosPerMillion,
  cacheWriteMicrosPerMillion: row.cacheWriteMicrosPerMillion,
  outputMicrosPerMillion: row.outputMicrosPerMillion,
  imageMicros: row.imageMicros,
  imagePrices: row.imagePrices,
  minuteMicros: row.minuteMicros,
})

/** Returns a model of a custom provider, of which only the name is known. */
const customModel = (name: string, capability: Capability): AiModel => ({
  name,
  provider: 'custom',
  upstream: upstreamOf(name),
  capability,
  lifecycle: 'ACTIVE',
  contextTokens: null,
  maxOutputTokens: null,
  createdAt: null,
  retiresAt: null,
  replacement: null,
  ...unpriced,
})

/** Candidates in order. */
export interface Candidates {
  readonly first: AiModel
  /** The first one, then the others, without duplicates. */
  readonly candidates: readonly AiModel[]
}

/** Error for an unavailable model: with `candidate` if sources know it, but it may not be called. */
export const notFound = (named: string): DomainError =>
  new DomainError('NOT_FOUND', `There is no model ${named}: name one of those that are listed, or none for the preference.`, {
    reason: 'model_not_found',
    field: 'model',
  })

const severalCalled = (part: string, models: readonly AiModel[]): DomainError =>
  new DomainError('NOT_FOUND', `Several models are called ${part}: give the whole name, ${models.map(({ name }) => name).join(' or ')}.`, {
    reason: 'model_not_found',
    field: 'model',
  })

export const notAllowed = (named: string): DomainError =>
  new DomainError('FORBIDDEN', `${named} is not among the allowed models: name one of those that are listed, or have it allowed.`, {
    reason: 'model_not_allowed',
    field: 'model',
  })

/** Normalizes the requested name; null for the preferred model. */
export const askedName = (named: string | null): string | null => (named === null || named === '' || named === 'default' ? null : named)

/**
 * Returns the candidates: the named model, else the preferred one; then the rest of the chain, without retired and
 * disallowed ones.
 * @param known models that may be called
 * @throws NOT_FOUND `model_not_found`; FORBIDDEN `model_not_allowed`, `override_not_permitted`
 */
export function candidatesOf(asked: Asked, known: readonly AiModelRow[], effective: Effective, now: Date): Candidates {
  const { capability, fallback, mayOverride } = asked
  const { preference, allowed, chain } = effective
  const named = askedName(asked.named)
  const byName = (name: string): AiModel | null => {
    const row = known.find(each => each.name === name)
    if (row) return modelOf(row, now)
    return customIn(name) === null ? null : customModel(name, capability)
  }
  const isUsable = (model: AiModel): boolean =>
    model.capability === capability && model.lifecycle !== 'RETIRED' && (model.provider === 'custom' || allowed.includes(model.name))
  const others = chain.models.map(byName).filter(model => model !== null && isUsable(model)) as readonly AiModel[]

  const first = named === null ? firstUnnamed() : firstNamed(named)
  return { first, candidates: fallback ? [first, ...others.filter(({ name }) => name !== first.name)] : [first] }

  function firstUnnamed(): AiModel {
    const preferred = preference && byName(preference.model)
    const found = preferred && isUsable(preferred) ? preferred : others[0]
    if (found) return found
    throw new DomainError('NOT_FOUND', `No model is set for ${capability}: name one, or have a preference set.`, { reason: 'model_not_found', field: 'model' })
  }

  function firstNamed(name: string): AiModel {
    const model = byName(name) ?? byLastPart(name)
    if (!model || model.capability !== capability || model.lifecycle === 'RETIRED') throw notFound(name)
    if (!isUsable(model)) throw notAllowed(model.name)
    if (capability === 'IMAGE' && !mayOverride && model.name !== preference?.model)
      throw new DomainError(
        'FORBIDDEN',
        `Images are drawn by ${preference?.model ?? 'the preference'} here: leave model out, or ask an admin to name another one.`,
        {
          reason: 'override_not_permitted',
          field: 'model',
        },
      )
    return model
  }

  /** Finds a model by the last part of its name, if it is unique among those that the caller may name. */
  function byLastPart(part: string): AiModel | null {
    const alike = known.filter(each => upstreamOf(each.name) === part).map(row => modelOf(row, now))
    const usable = alike.filter(isUsable)
    if (usable.length > 1) throw severalCalled(part, usable)
    return usable[0] ?? (alike.length === 1 ? alike[0]! : null)
  }
}

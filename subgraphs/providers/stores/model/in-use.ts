import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../../platform/clock.ts'
import type { CredentialsInUse } from '../credential/in-use.ts'
import {
  type AiModel,
  type Asked,
  askedName,
  type Candidates,
  candidatesOf,
  customIn,
  type Effective,
  effectiveOf,
  modelOf,
  notAllowed,
  notFound,
} from './candidates.ts'
import type { AiModelRow, OpenModels } from './model.ts'
import { type Bound, boundOf, type Capability, costOf, type Usage } from './prices.ts'
import type { OpenModelPreferences, SetModels } from './settings.ts'

/** The models that calls are made with. What it answers may be a second old where another process has changed it. */
export interface Models {
  /**
   * Who answers a call, in order.
   * @throws NOT_FOUND, reason `model_not_found`; FORBIDDEN, reason `model_not_allowed` or `override_not_permitted`
   */
  candidates(asked: Asked & { readonly organizationId: string }): Promise<Candidates>
  /** What an organization may name, in the order in which models came: those that are allowed and not retired. */
  allowed(organizationId: string): Promise<readonly AiModel[]>
  /** What holds of one capability. @param organizationId null: of the platform alone */
  effective(organizationId: string | null, capability: Capability): Promise<Effective>
  /** In whole micro-dollars, rounded up; null without a price. */
  costOf(model: AiModel, usage: Usage): bigint | null
  /** What a call costs at most; null without a price. */
  boundOf(model: AiModel, bound: Bound): bigint | null
  /** Forgets what is remembered: a model or a setting was changed. */
  forget(): void
}

/** How long what was found is used, in ms. */
const freshMs = 1_000
/** Of how many organizations settings are remembered at most. */
const most = 10_000

interface Kept<Value> {
  readonly value: Promise<Value>
  readonly at: number
}

export interface ModelsOptions {
  readonly models: () => Pick<OpenModels, 'configured' | 'isCandidate'>
  readonly preferences: () => Pick<OpenModelPreferences, 'settings'>
  readonly credentials: Pick<CredentialsInUse, 'resolve'>
  readonly clock: Clock
}

export function openModels({ models, preferences, credentials, clock }: ModelsOptions): Models {
  let known: Kept<readonly AiModelRow[]> | null = null
  const settings = new LRUCache<string, Kept<readonly SetModels[]>>({ max: most })

  const isFresh = (kept: Kept<unknown> | null | undefined, now: number): boolean => Boolean(kept && kept.at <= now && now < kept.at + freshMs)

  function configured(): Promise<readonly AiModelRow[]> {
    const now = clock.now().getTime()
    if (isFresh(known, now)) return known!.value
    const kept = { value: models().configured(), at: now }
    known = kept
    // What could not be read is asked again.
    kept.value.catch(() => {
      if (known === kept) known = null
    })
    return kept.value
  }

  function settingsOf(organizationId: string | null): Promise<readonly SetModels[]> {
    const key = organizationId ?? ''
    const now = clock.now().getTime()
    const present = settings.get(key)
    if (isFresh(present, now)) return present!.value
    const kept = { value: preferences().settings(organizationId), at: now }
    settings.set(key, kept)
    kept.value.catch(() => settings.get(key) === kept && settings.delete(key))
    return kept.value
  }

  return {
    async candidates({ organizationId, ...asked }) {
      const [rows, set] = await Promise.all([configured(), settingsOf(organizationId)])
      const name = askedName(asked.named)
      const custom = name === null ? null : customIn(name)
      if (name !== null && custom !== null && !(await credentials.resolve('custom', organizationId, custom))) throw notFound(name)
      try {
        return candidatesOf(asked, rows, effectiveOf(set, asked.capability), clock.now())
      } catch (error) {
        // A model that is known, and that nobody has taken up, is not allowed; one that nobody knows is not there.
        if (name !== null && isUnknown(error) && !rows.some(row => row.name === name) && (await models().isCandidate(name))) throw notAllowed(name)
        throw error
      }
    },
    async allowed(organizationId) {
      const [rows, set] = await Promise.all([configured(), settingsOf(organizationId)])
      const now = clock.now()
      return rows
        .filter(row => effectiveOf(set, row.capability).allowed.includes(row.name))
        .map(row => modelOf(row, now))
        .filter(({ lifecycle }) => lifecycle !== 'RETIRED')
    },
    effective: async (organizationId, capability) => effectiveOf(await settingsOf(organizationId), capability),
    costOf,
    boundOf,
    forget() {
      known = null
      settings.clear()
    },
  }
}

const isUnknown = (error: unknown): boolean => (error as { extensions?: { reason?: string } }).extensions?.reason === 'model_not_found'

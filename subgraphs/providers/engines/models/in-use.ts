import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../../platform/clock.ts'
import type { AiModelRow, Capability, OpenModels } from '../../stores/model/model.ts'
import type { OpenModelPreferences, SetModels } from '../../stores/model/settings.ts'
import type { ReadStanding, Standing } from '../../stores/model/standing.ts'
import type { CredentialsInUse } from '../third-party/credentials.ts'
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
  namesOf,
  notAllowed,
  notFound,
} from './candidates.ts'
import { type Bound, boundOf, costOf, type Usage } from './prices.ts'

/** Candidates of a call with the present settings; null where this process knows them itself. */
export type Answering = Candidates & { readonly standing: Standing | null }

/** Models for calls in their present state, whichever process has changed them. */
export interface Models {
  /**
   * Returns the candidates of a call, in order.
   * @throws NOT_FOUND, reason `model_not_found`; FORBIDDEN, reason `model_not_allowed` or `override_not_permitted`
   */
  candidates(asked: Asked & { readonly organizationId: string }): Promise<Answering>
  /** Returns the models that an organization may name, the oldest first: allowed and not retired. */
  allowed(organizationId: string): Promise<readonly AiModel[]>
  /** Returns the settings of one capability. @param organizationId null for the platform's own */
  effective(organizationId: string | null, capability: Capability): Promise<Effective>
  /** Returns a call's cost in whole micro-dollars, rounded up; null without a price. */
  costOf(model: AiModel, usage: Usage): bigint | null
  /** Returns the maximum cost of a call; null without a price. */
  boundOf(model: AiModel, bound: Bound): bigint | null
  /** Clears the cache after a change of a model or setting. */
  forget(): void
}

/** Time in ms for which results are cached. */
const freshMs = 1_000
/** Maximum organizations whose settings are cached. */
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
  /** Reads the present state for each call, if other processes change the rows. Null when no other process does. */
  readonly readStanding: ReadStanding | null
}

export function openModels({ models, preferences, credentials, clock, readStanding }: ModelsOptions): Models {
  let known: (Kept<readonly AiModelRow[]> & { readonly mark: string | null }) | null = null
  const settings = new LRUCache<string, Kept<readonly SetModels[]>>({ max: most })

  const isFresh = (kept: Kept<unknown> | null | undefined, now: number): boolean => Boolean(kept && kept.at <= now && now < kept.at + freshMs)

  /** @param mark state of all models; null if unknown */
  function configured(mark: string | null): Promise<readonly AiModelRow[]> {
    const now = clock.now().getTime()
    if (isFresh(known, now) && (mark === null || known!.mark === mark)) return known!.value
    const kept = { value: models().configured(), at: now, mark }
    known = kept
    // A failed read is not cached.
    kept.value.catch(() => {
      if (known === kept) known = null
    })
    return kept.value
  }

  function settingsOf(organizationId: string | null): Promise<readonly SetModels[]> {
    if (readStanding !== null) return preferences().settings(organizationId)
    const key = organizationId ?? ''
    const now = clock.now().getTime()
    const remembered = settings.get(key)
    if (isFresh(remembered, now)) return remembered!.value
    const kept = { value: preferences().settings(organizationId), at: now }
    settings.set(key, kept)
    kept.value.catch(() => settings.get(key) === kept && settings.delete(key))
    return kept.value
  }

  /** Returns the models and the organization's settings. @param name of the requested model; null for none */
  async function present(organizationId: string, name: string | null) {
    if (readStanding === null) {
      const [rows, set] = await Promise.all([configured(null), settingsOf(organizationId)])
      return { rows, set, standing: null }
    }
    // A name's last part stands for the models that this process knows by it; an unknown model has no cooldown.
    const standing = await readStanding(organizationId, name === null ? [] : namesOf(name, (await known?.value) ?? []))
    return { rows: await configured(standing.models), set: standing.settings, standing }
  }

  return {
    async candidates({ organizationId, ...asked }) {
      const name = askedName(asked.named)
      const { rows, set, standing } = await present(organizationId, name)
      const custom = name === null ? null : customIn(name)
      if (name !== null && custom !== null && !(await credentials.resolve('custom', organizationId, custom, standing?.credentials))) throw notFound(name)
      try {
        return { ...candidatesOf(asked, rows, effectiveOf(set, asked.capability), clock.now()), standing }
      } catch (error) {
        // A known model without an allowance is rejected as not allowed; an unknown one as not found.
        if (name !== null && isUnknown(error) && !rows.some(row => row.name === name) && (await models().isCandidate(name))) throw notAllowed(name)
        throw error
      }
    },
    async allowed(organizationId) {
      const { rows, set } = await present(organizationId, null)
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

import type { PlanNode } from '@graphql-hive/router-query-planner'
import { DomainError } from '../../../platform/errors.ts'

/**
 * A planner library as a function: the plan for the text of one operation, in the form that the executor runs; null
 * when no subgraph is needed.
 * @param active labels of progressive overrides that are active
 * @throws DomainError for a mistake of the client; any other error when it has no plan, and then the next planner is tried
 */
export type PlanText = (text: string, active: readonly string[]) => Promise<PlanNode | null>

/** A planner's result for one text: a plan, or a message that explains why there is none. */
export type Planned = { readonly plan: PlanNode | null } | { readonly failed: string }

/** The callers that wait for one plan; more may join while it is made. */
export interface Askers {
  readonly names: ReadonlySet<string>
  join(name: string): void
  /** Calls the listener when one more caller has joined. */
  onJoin(listener: () => void): void
}

export function createAskers(first: string): Askers {
  const names = new Set([first])
  let tell = () => {}
  return {
    names,
    join(name) {
      if (names.has(name)) return
      names.add(name)
      tell()
    },
    onJoin(listener) {
      tell = listener
    },
  }
}

/**
 * Plans the texts of one operation, one after the other. @throws DomainError for a mistake of the client
 * @param active labels of progressive overrides that are active @default none
 */
export type AskPlanner = (texts: readonly string[], askers: Askers, active?: readonly string[]) => Promise<readonly Planned[]>

/**
 * Makes the plans for the texts of one operation, one for each. @throws DomainError for a mistake of the client, Error for
 * an operation that no planner can plan
 * @param active labels of progressive overrides that are active @default none
 * @param isForSecond whether only the second planner knows how to plan the operation @default false
 */
export type PlanTexts = (texts: readonly string[], askers: Askers, active?: readonly string[], isForSecond?: boolean) => Promise<readonly (PlanNode | null)[]>

/** Calls a planner library in this very process, where a plan that has begun cannot be stopped. */
export const askHere =
  (planText: PlanText): AskPlanner =>
  async (texts, _askers, active = []) => {
    const made: Planned[] = []
    for (const text of texts) {
      try {
        made.push({ plan: await planText(text, active) })
      } catch (cause) {
        if (cause instanceof DomainError) throw cause
        made.push({ failed: cause instanceof Error ? cause.message : String(cause) })
      }
    }
    return made
  }

/** Tries a second planner where the first one fails. Where both fail, the first one's message is reported. */
export const withSecond =
  (first: AskPlanner, second: AskPlanner): PlanTexts =>
  async (texts, askers, active, isForSecond = false) => {
    const plans: (PlanNode | null)[] = []
    if (isForSecond) {
      for (const made of await second(texts, askers, active)) {
        if ('failed' in made) throw new Error(made.failed)
        plans.push(made.plan)
      }
      return plans
    }
    for (const [at, made] of (await first(texts, askers, active)).entries()) {
      if ('plan' in made) plans.push(made.plan)
      else {
        const [again] = await second([texts[at]!], askers, active)
        if (!again || 'failed' in again) throw new Error(made.failed)
        plans.push(again.plan)
      }
    }
    return plans
  }

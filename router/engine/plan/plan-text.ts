import type { PlanNode } from '@graphql-hive/router-query-planner'
import { Refusal } from '../../../platform/errors.ts'

/**
 * What a planner's library is asked: the plan for the text of one operation, in the form that the executor runs; null when no
 * subgraph is needed.
 * @throws Refusal for what the client is to change; anything else when it has no plan, and then the next planner is asked
 */
export type PlanText = (text: string) => Promise<PlanNode | null>

/** What a planner made of one text: a plan, or words that say why it has none. */
export type Planned = { readonly plan: PlanNode | null } | { readonly failed: string }

/** The callers that wait for one plan; more may join while it is made. */
export interface Askers {
  readonly names: ReadonlySet<string>
  join(name: string): void
  /** Calls back, alone, when one more has joined. */
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

/** Asks a planner for the texts of one operation, one after the other. @throws Refusal for what the client is to change */
export type AskPlanner = (texts: readonly string[], askers: Askers) => Promise<readonly Planned[]>

/** Makes the plans for the texts of one operation, one for each. @throws Refusal for what the client is to change, Error for what nobody can plan */
export type PlanTexts = (texts: readonly string[], askers: Askers) => Promise<readonly (PlanNode | null)[]>

/** Asks a library in this very process, where nothing ends a plan that has begun. */
export const askHere =
  (planText: PlanText): AskPlanner =>
  async texts => {
    const made: Planned[] = []
    for (const text of texts) {
      try {
        made.push({ plan: await planText(text) })
      } catch (cause) {
        if (cause instanceof Refusal) throw cause
        made.push({ failed: cause instanceof Error ? cause.message : String(cause) })
      }
    }
    return made
  }

/** Has a second planner plan what the first one gives up on. Where neither has a plan, the first one's words are told. */
export const withSecond =
  (first: AskPlanner, second: AskPlanner): PlanTexts =>
  async (texts, askers) => {
    const plans: (PlanNode | null)[] = []
    for (const [at, made] of (await first(texts, askers)).entries()) {
      if ('plan' in made) plans.push(made.plan)
      else {
        const [again] = await second([texts[at]!], askers)
        if (!again || 'failed' in again) throw new Error(made.failed)
        plans.push(again.plan)
      }
    }
    return plans
  }

import { type ExecutionResult, GraphQLError } from 'graphql'
import type { Engine, EngineOptions, OperationRequest } from '../engine.ts'
import { type OverrideDecision, overrideHeader } from '../operation/overrides/decision.ts'
import type { OverrideLabels } from '../operation/overrides/labels.ts'
import { shownTo } from './aside.ts'

export interface OverridingOptions extends Pick<EngineOptions, 'exposePlans' | 'maxCost'> {
  /** Labels of the engine's graph. */
  readonly labels: OverrideLabels
  /** Decides on the labels of a request; null for one whose header is malformed. */
  decide(request: OperationRequest): OverrideDecision | null
  /** Called for each label that the operation of a request touches. */
  counted?(label: string, isActive: boolean): void
}

/**
 * Decisions by request. They outlive their graph, so that a stream which goes on when the graph is replaced keeps its
 * decision.
 */
const decisions = new WeakMap<OperationRequest, OverrideDecision>()

/**
 * Decides which labels of progressive overrides are active, once for each request: all of its fetches and payloads, and
 * its stream for as long as it is open, follow the same decision.
 */
export function overriding(engine: Engine, { labels, decide, counted, ...telling }: OverridingOptions): Engine {
  const decided = (request: OperationRequest): OperationRequest | null => {
    const touched = labels.touchedBy(request.document)
    let decision = decisions.get(request)
    if (!decision) {
      const made = decide(request)
      if (!made) return null
      decision = made
      decisions.set(request, made)
      for (const label of touched) counted?.(label, made.isActive(label))
    }
    const { isActive } = decision
    const shown = shownTo(request, telling).includes('plan') ? Object.fromEntries(labels.all.map(label => [label, isActive(label)])) : undefined
    return { ...request, overrides: { active: touched.filter(isActive), shown } }
  }
  const run = <Result>(request: OperationRequest, work: (request: OperationRequest) => Promise<Result>): Promise<Result | ExecutionResult> => {
    const known = decided(request)
    return known ? work(known) : Promise.resolve({ errors: [malformed()] })
  }

  return {
    ...engine,
    get schema() {
      return engine.schema
    },
    execute: request => run(request, each => engine.execute(each)),
    ...(engine.executeIncrementally && { executeIncrementally: (request: OperationRequest) => run(request, each => engine.executeIncrementally!(each)) }),
    prepareStream: request => run(request, each => engine.prepareStream(each)),
  }
}

const malformed = () =>
  new GraphQLError(`The header ${overrideHeader} is malformed: send <label>=on or <label>=off, with commas between, each label once.`, {
    extensions: { code: 'BAD_REQUEST' },
  })

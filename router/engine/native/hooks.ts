import type { EngineOptions, OperationRequest } from '../engine.ts'
import type { CompiledPlan } from '../execute/step.ts'
import type { ExplainFailure } from '../shape/errors.ts'

/** Stages of an operation that a trace may show: `shape` is a part of `execute`. */
export type Stage = 'plan' | 'execute' | 'shape'

/** What users of the engine outside of this program may observe and decide. Without them an operation pays one check each. */
export interface EngineHooks {
  /** Describes failures at subgraphs for clients. @default by the codes of our own errors, see `clientErrors` */
  readonly explain?: ExplainFailure | undefined
  /**
   * Whether values that break the schema are reported in `extensions.valueCompletion`, and only where nothing else
   * failed. @default they are errors of the result
   */
  readonly flawsAside?: boolean | undefined
  /**
   * Called with the plan of an operation, each time before it runs.
   * @param clientKeys the client's response keys of fields that have other keys in the plan
   */
  readonly planned?: ((request: OperationRequest, plan: CompiledPlan, clientKeys: ReadonlyMap<string, string>) => void | Promise<void>) | undefined
  /** Runs a stage of an operation, inside of a span of its own for example. */
  readonly stage?: (<Result>(stage: Stage, request: Pick<OperationRequest, 'viewer'>, work: () => Result) => Result) | undefined
}

/** Options of an engine, with hooks. */
export interface NativeOptions extends EngineOptions {
  readonly hooks?: EngineHooks | undefined
}

/** Runs a stage of an operation inside of the hook, where there is one. */
export function inStage<Result>({ hooks }: NativeOptions, stage: Stage, request: Pick<OperationRequest, 'viewer'>, work: () => Result): Result {
  return hooks?.stage ? hooks.stage(stage, request, work) : work()
}

import type { RunStatus } from '../../stores/run/run.ts'
import type { Json, PlanStep } from '../../stores/workflow.ts'

/** How long the outputs of a list's items may be together, in bytes. */
export const maxBytes = 1_048_576

/** The run of an item, as it stands. */
export interface MapChild {
  readonly itemIndex: number
  readonly status: RunStatus
  /** The attempt of the step that began it. */
  readonly attempt: number
}

/** The runs of a list's items: the last one of each. */
export interface MapChildren {
  readonly runs: readonly MapChild[]
  /** Outputs of those that succeeded, by the item, once none is under way; null where they are too long together. */
  readonly outputs: ReadonlyMap<number, Json> | null
}

/** The item of a MAP for which a run is begun, and the attempt that begins it. */
export interface MapItem {
  readonly index: number
  readonly attempt: number
}

export const noChildren: MapChildren = { runs: [], outputs: new Map() }

/** What is to be done for a list. */
export interface MapProgress {
  /** Items whose run begins now, in the order of the list. */
  readonly begin: readonly { readonly index: number; readonly input: Json }[]
  /** Whether no run is under way or begins. */
  readonly isOver: boolean
  /** Whether the run of an item has failed, was cancelled, or cannot begin. */
  readonly hasFailed: boolean
}

/** Whether the run of an item has ended. */
export const hasEnded = ({ status }: Pick<MapChild, 'status'>): boolean => status === 'SUCCEEDED' || status === 'FAILED' || status === 'CANCELLED'

/**
 * Decides which items of a list begin. Items that succeeded are never begun again; those that failed are begun by another attempt.
 * @param list    its length, and the attempt of the step
 * @param inputOf what the run of an item begins with; undefined where it cannot begin, which counts as failed
 */
export function progressOf(
  { onItemFailure, concurrency }: Pick<PlanStep, 'onItemFailure' | 'concurrency'>,
  { length, attempt }: { readonly length: number; readonly attempt: number },
  { runs }: Pick<MapChildren, 'runs'>,
  inputOf: (index: number) => Json | undefined,
): MapProgress {
  const present = runs.filter(run => !hasEnded(run) || run.status === 'SUCCEEDED' || run.attempt === attempt)
  const known = new Set(present.map(({ itemIndex }) => itemIndex))
  let underWay = present.filter(run => !hasEnded(run)).length
  let hasFailed = present.some(({ status }) => status === 'FAILED' || status === 'CANCELLED')
  const begin: { readonly index: number; readonly input: Json }[] = []
  for (let index = 0; index < length && underWay < (concurrency ?? 1); index += 1) {
    if (hasFailed && onItemFailure !== 'SKIP') break
    if (known.has(index)) continue
    const input = inputOf(index)
    if (input === undefined) hasFailed = true
    else {
      begin.push({ index, input })
      underWay += 1
    }
  }
  return { begin, hasFailed, isOver: underWay === 0 }
}

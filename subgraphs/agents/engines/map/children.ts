import type { Transaction } from 'sequelize'
import type { runStore } from '../../stores/run/run.ts'
import type { StepRow } from '../../stores/run/step.ts'
import { hasEnded, type MapChildren, maxBytes } from './progress.ts'

/** Reads the runs of the items of a MAP step; none for other steps. */
export async function mapChildren(
  { runs }: { readonly runs: Pick<ReturnType<(typeof runStore)['open']>, 'mapped' | 'mappedOutputs'> },
  step: Pick<StepRow, 'kind' | 'childrenFrom'> | null,
  stepId: string,
  transaction: Transaction,
): Promise<MapChildren> {
  if (step?.kind !== 'MAP') return { runs: [], outputs: new Map() }
  const found = await runs.mapped(stepId, step.childrenFrom, transaction)
  const succeeded = found.filter(({ status }) => status === 'SUCCEEDED')
  if (succeeded.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) > maxBytes) return { runs: found, outputs: null }
  if (succeeded.length === 0 || !found.every(hasEnded)) return { runs: found, outputs: new Map() }
  const outputs = await runs.mappedOutputs(stepId, step.childrenFrom, transaction)
  return { runs: found, outputs: new Map(succeeded.map(({ itemIndex }) => [itemIndex, outputs.get(itemIndex) ?? null])) }
}

import { CircleAlert, CircleCheck, CircleHelp, Clock, type LucideIcon, Undo2 } from 'lucide-react'
import { type Meaning, Status } from '../../../design/parts/status.tsx'
import { say } from '../../../shell/words.ts'
import type { SettlementBatchStatus, SettlementCallbackStatus, SettlementLineStatus } from './settlement.generated.ts'

type Look = readonly [Meaning, LucideIcon]

const batches: Readonly<Record<SettlementBatchStatus, Look>> = {
  RECEIVED: ['plain', Clock],
  PROCESSING: ['info', Clock],
  SETTLED: ['positive', CircleCheck],
  PARTIALLY_SETTLED: ['warning', CircleAlert],
  FAILED: ['danger', CircleAlert],
  REVERSING: ['info', Undo2],
  REVERSED: ['plain', Undo2],
  PARTIALLY_REVERSED: ['warning', Undo2],
}
const lines: Readonly<Record<SettlementLineStatus, Look>> = {
  PENDING: ['info', Clock],
  SETTLED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  UNKNOWN: ['warning', CircleHelp],
  REVERSED: ['plain', Undo2],
}
const callbacks: Readonly<Record<SettlementCallbackStatus, Look>> = {
  PENDING: ['info', Clock],
  DELIVERED: ['positive', CircleCheck],
  DEAD: ['danger', CircleAlert],
}

const Look = ({ of: [meaning, icon], word }: { readonly of: Look; readonly word: string }) => (
  <Status meaning={meaning} icon={icon}>
    {say(word)}
  </Status>
)

/** How far a batch has got. */
export const BatchState = ({ status }: { readonly status: SettlementBatchStatus }) => <Look of={batches[status]} word={`batch.${status}`} />

/** What became of one transfer of a batch. */
export const LineState = ({ status }: { readonly status: SettlementLineStatus }) => <Look of={lines[status]} word={`batch-line.${status}`} />

/** How far the submitter was told of it. */
export const CallbackState = ({ status }: { readonly status: SettlementCallbackStatus }) => <Look of={callbacks[status]} word={`callback.${status}`} />

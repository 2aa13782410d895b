import { Ban, CircleAlert, CircleCheck, CircleHelp, Clock, type LucideIcon, UserRound } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { RefundStatus } from './refunds.generated.ts'

const looks: Readonly<Record<RefundStatus, readonly [Meaning, LucideIcon]>> = {
  AWAITING_APPROVAL: ['warning', UserRound],
  PENDING: ['info', Clock],
  UNKNOWN: ['warning', CircleHelp],
  SUCCEEDED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  REJECTED: ['plain', Ban],
}

/** How far a refund has got. */
export function RefundState({ status }: { readonly status: RefundStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`refund.${status}`)}
    </Status>
  )
}

import { CircleAlert, CircleCheck, Clock, type LucideIcon, XCircle } from 'lucide-react'
import { type Meaning, Status } from '../../../design/parts/status.tsx'
import { say } from '../../../shell/words.ts'
import type { DisputeStatus } from './disputes.generated.ts'

/** How a state of a dispute looks. */
export const looks: Readonly<Record<DisputeStatus, readonly [Meaning, LucideIcon]>> = {
  OPEN: ['warning', CircleAlert],
  UNDER_REVIEW: ['info', Clock],
  WON: ['positive', CircleCheck],
  LOST: ['danger', XCircle],
}

/** How far a dispute has got. */
export const DisputeState = ({ status }: { readonly status: DisputeStatus }) => (
  <Status meaning={looks[status][0]} icon={looks[status][1]}>
    {say(`dispute.${status}`)}
  </Status>
)

/** The processor's word for a reason, as a sentence would have it: `product not received`. */
export const reasonOf = (reason: string) => reason.replaceAll('_', ' ')

import { Ban, CircleAlert, CircleCheck, Clock, type LucideIcon, MessageSquare, PenLine, ShieldAlert, ShieldCheck, UserRound, XCircle } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { ActionRisk, ApprovalStatus } from './approvals.generated.ts'

type Look = readonly [Meaning, LucideIcon]

const statuses: Readonly<Record<ApprovalStatus, Look>> = {
  PENDING: ['warning', UserRound],
  APPROVED: ['positive', CircleCheck],
  EDITED: ['positive', PenLine],
  REJECTED: ['danger', XCircle],
  RESPONDED: ['positive', MessageSquare],
  EXPIRED: ['plain', Clock],
  CANCELLED: ['plain', Ban],
}
const risks: Readonly<Record<ActionRisk, Look>> = {
  LOW: ['plain', ShieldCheck],
  MEDIUM: ['warning', ShieldAlert],
  HIGH: ['danger', CircleAlert],
}

/** Where an approval stands. */
export const ApprovalState = ({ status }: { readonly status: ApprovalStatus }) => (
  <Status meaning={statuses[status][0]} icon={statuses[status][1]}>
    {say(`approval.${status}`)}
  </Status>
)

/** How much harm the action can do. */
export const Risk = ({ risk }: { readonly risk: ActionRisk }) => (
  <Status meaning={risks[risk][0]} icon={risks[risk][1]}>
    {say(`risk.${risk}`)}
  </Status>
)

import { CircleAlert, CircleCheck, CircleHelp, Clock, type LucideIcon } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { TransactionStatus } from './transactions.generated.ts'

const looks: Readonly<Record<TransactionStatus, readonly [Meaning, LucideIcon]>> = {
  PENDING: ['info', Clock],
  SUCCEEDED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  UNKNOWN: ['warning', CircleHelp],
}

/** What became of a transaction. */
export function TransactionState({ status }: { readonly status: TransactionStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`transaction.${status}`)}
    </Status>
  )
}

import { CircleAlert, CircleCheck, Clock, type LucideIcon, RefreshCw } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { KnowledgeStatus } from './knowledge.generated.ts'

const looks: Readonly<Record<KnowledgeStatus, readonly [Meaning, LucideIcon]>> = {
  PENDING: ['info', Clock],
  INDEXING: ['info', RefreshCw],
  READY: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
}

/** Whether a source can be searched. */
export const KnowledgeState = ({ status }: { readonly status: KnowledgeStatus }) => (
  <Status meaning={looks[status][0]} icon={looks[status][1]}>
    {say(`knowledge.${status}`)}
  </Status>
)

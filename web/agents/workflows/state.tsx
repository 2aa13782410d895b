import { Archive, CircleCheck, PenLine } from 'lucide-react'
import { Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { WorkflowStatus } from './workflows.generated.ts'

const looks = { DRAFT: ['plain', PenLine], PUBLISHED: ['positive', CircleCheck], ARCHIVED: ['plain', Archive] } as const

/** Whether a workflow runs. */
export function WorkflowState({ status }: { readonly status: WorkflowStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`workflow.${status}`)}
    </Status>
  )
}

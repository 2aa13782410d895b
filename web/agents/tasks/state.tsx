import { Ban, CircleCheck, CircleDashed, CirclePlay, type LucideIcon } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { TaskStatus } from './tasks.generated.ts'

const looks: Readonly<Record<TaskStatus, readonly [Meaning, LucideIcon]>> = {
  OPEN: ['warning', CircleDashed],
  IN_PROGRESS: ['info', CirclePlay],
  DONE: ['positive', CircleCheck],
  CANCELLED: ['plain', Ban],
}

/** Where a task stands. */
export const TaskState = ({ status }: { readonly status: TaskStatus }) => (
  <Status meaning={looks[status][0]} icon={looks[status][1]}>
    {say(`task.${status}`)}
  </Status>
)

import { Archive, CircleCheck, CirclePause } from 'lucide-react'
import { Status } from '../../design/parts/status.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { say } from '../../shell/words.ts'
import type { AgentRowFragment, AgentStatus } from './agents.generated.ts'

const looks = { ACTIVE: ['positive', CircleCheck], PAUSED: ['warning', CirclePause], ARCHIVED: ['plain', Archive] } as const

/** Whether an agent works. */
export const AgentState = ({ status }: { readonly status: AgentStatus }) => (
  <Status meaning={looks[status][0]} icon={looks[status][1]}>
    {say(`agent.${status}`)}
  </Status>
)

/** What an agent has cost this month, and how much it may. */
export const spentOf = ({ spentMicros, monthlyLimitMicros }: AgentRowFragment): string =>
  monthlyLimitMicros === null || monthlyLimitMicros === undefined
    ? dollars(spentMicros)
    : say('agents.spent-of', { spent: dollars(spentMicros), limit: dollars(monthlyLimitMicros) })

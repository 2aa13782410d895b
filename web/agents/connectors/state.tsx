import { CircleAlert, CircleCheck, CircleDashed, CirclePause, type LucideIcon } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { ConnectorStatus } from './connectors.generated.ts'

const looks: Readonly<Record<ConnectorStatus, readonly [Meaning, LucideIcon]>> = {
  UNTESTED: ['plain', CircleDashed],
  HEALTHY: ['positive', CircleCheck],
  FAILING: ['danger', CircleAlert],
  DISABLED: ['warning', CirclePause],
}

/** How a connector fared at its last check. */
export const ConnectorState = ({ status }: { readonly status: ConnectorStatus }) => (
  <Status meaning={looks[status][0]} icon={looks[status][1]}>
    {say(`connector.${status}`)}
  </Status>
)

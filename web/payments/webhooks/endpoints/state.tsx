import { CirclePause, RadioTower } from 'lucide-react'
import { Status } from '../../../design/parts/status.tsx'
import { say } from '../../../shell/words.ts'
import type { EndpointRowFragment } from './endpoints.generated.ts'

/** Whether anything is sent to an endpoint. */
export const EndpointState = ({ endpoint: { active, disabledReason } }: { readonly endpoint: EndpointRowFragment }) => (
  <Status meaning={active ? 'positive' : disabledReason ? 'danger' : 'warning'} icon={active ? RadioTower : CirclePause}>
    {say(active ? 'endpoints.active' : disabledReason ? 'endpoints.given-up' : 'endpoints.disabled')}
  </Status>
)

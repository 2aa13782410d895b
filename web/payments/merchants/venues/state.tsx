import { Archive, CircleCheck } from 'lucide-react'
import { Status } from '../../../design/parts/status.tsx'
import { say } from '../../../shell/words.ts'
import type { VenueStatus } from './venues.generated.ts'

/** Whether orders may name a venue. */
export const VenueState = ({ status }: { readonly status: VenueStatus }) => (
  <Status meaning={status === 'ACTIVE' ? 'positive' : 'plain'} icon={status === 'ACTIVE' ? CircleCheck : Archive}>
    {say(status === 'ACTIVE' ? 'venues.active' : 'venues.archived')}
  </Status>
)

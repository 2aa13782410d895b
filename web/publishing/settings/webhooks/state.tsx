import { CircleCheck, CirclePause, TriangleAlert } from 'lucide-react'
import { Status } from '../../../design/parts/status.tsx'
import { say } from '../../../shell/words.ts'
import type { WebhookRowFragment } from './webhooks.generated.ts'

const states = { ACTIVE: ['positive', CircleCheck], INACTIVE: ['plain', CirclePause], RESTING: ['warning', TriangleAlert] } as const

/** How an address stands, as icon and word. */
export function WebhookState({ state }: { readonly state: WebhookRowFragment['state'] }) {
  const [meaning, icon] = states[state]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`webhooks.${state}`)}
    </Status>
  )
}

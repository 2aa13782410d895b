import { Archive, CircleCheck, PenLine } from 'lucide-react'
import { Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { PersonProfileStatus } from './profiles.generated.ts'

const looks = { DRAFT: ['plain', PenLine], ACTIVE: ['positive', CircleCheck], ARCHIVED: ['plain', Archive] } as const

/** How a profile stands. */
export function ProfileState({ status }: { readonly status: PersonProfileStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`profile.${status}`)}
    </Status>
  )
}

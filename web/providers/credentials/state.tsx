import { Ban, CircleAlert, CircleCheck, CircleHelp, type LucideIcon } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { CredentialStatus } from './credentials.generated.ts'

const looks: Readonly<Record<CredentialStatus, readonly [Meaning, LucideIcon]>> = {
  UNTESTED: ['plain', CircleHelp],
  WORKING: ['positive', CircleCheck],
  FAILING: ['danger', CircleAlert],
  DISABLED: ['plain', Ban],
}

/** How a credential has fared. */
export function CredentialState({ status }: { readonly status: CredentialStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`credential.${status}`)}
    </Status>
  )
}

import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** What something means: never by colour alone. */
export type Meaning = 'plain' | 'positive' | 'warning' | 'danger' | 'info'

/** How a thing stands: icon and word on a soft ground. */
export const Status = ({ meaning, icon, children }: { readonly meaning: Meaning; readonly icon: LucideIcon; readonly children: ReactNode }) => (
  <span className={meaning === 'plain' ? 'status' : `status ${meaning}`}>
    <Icon of={icon} />
    {children}
  </span>
)

/** A sentence about what it stands above. */
export const Note = ({ meaning, icon, children }: { readonly meaning: Meaning; readonly icon: LucideIcon; readonly children: ReactNode }) => (
  <p className={meaning === 'plain' ? 'note' : `note ${meaning}`}>
    <Icon of={icon} />
    <span>{children}</span>
  </p>
)

import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from '../parts/icon.tsx'

/** What happened, one after another. */
export interface Happening {
  readonly key: string
  readonly icon: LucideIcon
  readonly title: ReactNode
  /** When, as it is shown. */
  readonly time: string
  readonly detail?: ReactNode
}

/** Steps in the order of time. */
export const Timeline = ({ steps }: { readonly steps: readonly Happening[] }) => (
  <ol className="timeline">
    {steps.map(({ key, icon, title, time, detail }) => (
      <li key={key}>
        <Icon of={icon} />
        <div className="grow">
          <p>
            {title} <span className="quiet small figures">{time}</span>
          </p>
          {detail && <div className="quiet small">{detail}</div>}
        </div>
      </li>
    ))}
  </ol>
)

import { CircleAlert, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** The shape of what is to come, in its final size. */
export const Skeleton = ({ lines, tall = false }: { readonly lines: number; readonly tall?: boolean }) => (
  <div className="bones" aria-hidden>
    {Array.from({ length: lines }, (_, at) => (
      <div key={at} className={tall && at === 0 ? 'bone tall' : 'bone'} />
    ))}
  </div>
)

/** What will be here, and the first step. */
export const Empty = ({ icon: Drawn, sentence, children }: { readonly icon: LucideIcon; readonly sentence: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <Drawn aria-hidden />
    <p>{sentence}</p>
    {children}
  </div>
)

/** What went wrong, and the way on. */
export const Problem = ({ sentence, details, children }: { readonly sentence: string; readonly details?: ReactNode; readonly children?: ReactNode }) => (
  <div className="problem" role="alert">
    <p>
      <Icon of={CircleAlert} />
      <span>{sentence}</span>
    </p>
    {children}
    {details}
  </div>
)

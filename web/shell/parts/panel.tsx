import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { goTo } from '../address.tsx'
import { Region, type RegionProps } from '../region.tsx'
import { say } from '../words.ts'

/** The detail of a row, beside its list; it has an address of its own. @param back the list's address */
export function Panel({
  label,
  heading,
  back,
  children,
  ...region
}: Pick<RegionProps, 'state' | 'problem' | 'retry'> & {
  readonly label: string
  /** Until it is known the label stands there. */
  readonly heading: ReactNode
  readonly back: string
  readonly children: ReactNode
}) {
  return (
    <Region
      {...region}
      className="panel"
      aria-label={label}
      title={<h2 className="clip">{heading || label}</h2>}
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
    >
      {children}
    </Region>
  )
}

import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button'
import { Icon } from './icon.tsx'

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'> {
  /** One primary a region; danger for what cannot be taken back. @default secondary */
  readonly kind?: 'primary' | 'secondary' | 'quiet' | 'danger' | 'link'
  readonly icon?: LucideIcon
  /** A word for an icon that stands alone, in tool bars. */
  readonly name?: string
  readonly chosen?: boolean
  readonly children?: ReactNode
}

/** A button: a verb that names the thing. */
export const Button = ({ kind = 'secondary', icon, name, chosen = false, children, ...rest }: ButtonProps) => (
  <AriaButton
    {...rest}
    {...(name !== undefined && { 'aria-label': name })}
    className={`button ${kind}${children ? '' : ' icon-only'}${chosen ? ' chosen' : ''}`}
  >
    {icon && <Icon of={icon} />}
    {children}
  </AriaButton>
)

import type { ReactNode } from 'react'
import { Menu as AriaMenu, MenuItem, type MenuItemProps, MenuTrigger } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import { Separator } from 'react-aria-components/Separator'

/** A button that opens a list of actions. @param button what opens it: a `Button` */
export const Menu = ({
  button,
  name,
  above,
  children,
  onOpen,
}: {
  readonly button: ReactNode
  readonly name: string
  /** Who or what it is about, above the actions. */
  readonly above?: ReactNode
  readonly children: ReactNode
  onOpen?(isOpen: boolean): void
}) => (
  <MenuTrigger {...(onOpen && { onOpenChange: onOpen })}>
    {button}
    <Popover className="popover" placement="bottom end">
      {above}
      <AriaMenu className="menu" aria-label={name}>
        {children}
      </AriaMenu>
    </Popover>
  </MenuTrigger>
)

/** One of its actions; with `href` a link. */
export const Action = ({ name, children, ...rest }: Omit<MenuItemProps, 'children'> & { readonly name: string; readonly children: ReactNode }) => (
  <MenuItem {...rest} textValue={name}>
    {children}
  </MenuItem>
)

/** A line between groups of them. */
export const Line = () => <Separator />

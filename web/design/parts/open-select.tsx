import { ChevronDown } from 'lucide-react'
import { Button } from 'react-aria-components/Button'
import { Label } from 'react-aria-components/Label'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select'
import { Icon } from './icon.tsx'

export interface Choice {
  readonly id: string
  readonly name: string
}

export interface SelectProps {
  readonly label: string
  readonly choices: readonly Choice[]
  readonly value: string
  /** Whether its place says already what it is. */
  readonly isLabelHidden?: boolean
  onChange(id: string): void
}

/** A choice that can be opened; see `Select`. */
export const OpenSelect = ({ label, choices, value, isLabelHidden = false, onChange }: SelectProps) => (
  <AriaSelect className="field select" selectedKey={value} onSelectionChange={key => onChange(String(key))}>
    <Label className={isLabelHidden ? 'unseen' : 'react-aria-Label'}>{label}</Label>
    <Button className="button secondary">
      <SelectValue className="clip" />
      <Icon of={ChevronDown} />
    </Button>
    <Popover className="popover">
      <ListBox className="menu" items={choices}>
        {({ id, name }) => <ListBoxItem id={id}>{name}</ListBoxItem>}
      </ListBox>
    </Popover>
  </AriaSelect>
)

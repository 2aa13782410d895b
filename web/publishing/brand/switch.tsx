import { Check, ChevronsUpDown } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Action, Menu } from '../../design/parts/menu.tsx'
import { goTo, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { say } from '../../shell/words.ts'
import { keepBrand, useBrand } from './brand.ts'

/** The brand at hand, and the way to another. */
export function BrandSwitch() {
  const { brand, brands } = useBrand()
  const [path, search] = [usePath(), useSearch()]
  if (!brand) return null
  return (
    <Menu
      name={say('brand.switch')}
      button={
        <Button kind="quiet" aria-label={say('brand.current', { name: brand.name })}>
          <span className="letter" data-letter={brand.name.slice(0, 1)} aria-hidden />
          <span className="clip">{brand.name}</span>
          <Icon of={ChevronsUpDown} />
        </Button>
      }
    >
      {brands.map(({ id, name }) => (
        <Action
          key={id}
          id={id}
          name={name}
          onAction={() => {
            keepBrand(id)
            goTo(withSearch(path, search, { brand: id, after: null }))
          }}
        >
          <span className="letter" data-letter={name.slice(0, 1)} aria-hidden />
          <span className="clip">{name}</span>
          {id === brand.id && <Icon of={Check} />}
        </Action>
      ))}
    </Menu>
  )
}

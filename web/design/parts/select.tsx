import { ChevronDown } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Icon } from './icon.tsx'
import type { SelectProps } from './open-select.tsx'

const OpenSelect = lazy(async () => ({ default: (await import('./open-select.tsx')).OpenSelect }))

/**
 * One of a few: a button that opens a list, by pointer, keys, or the first letters of a name. What opens it is loaded
 * with the first one, and until then it stands there closed: most are in dialogs.
 */
export const Select = (props: SelectProps) => (
  <Suspense fallback={<Closed {...props} />}>
    <OpenSelect {...props} />
  </Suspense>
)

/** Looks as it will, and cannot be opened yet. */
function Closed({ label, choices, value, isLabelHidden = false }: SelectProps) {
  const name = choices.find(({ id }) => id === value)?.name ?? ''
  return (
    <div className="field select">
      <span className={isLabelHidden ? 'unseen' : 'react-aria-Label'}>{label}</span>
      <button type="button" className="button secondary" aria-disabled aria-label={`${name} ${label}`}>
        <span className="clip">{name}</span>
        <Icon of={ChevronDown} />
      </button>
    </div>
  )
}

import { type KeyboardEvent, useId, useState } from 'react'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { goTo } from '../../address.tsx'
import type { AppPages } from '../../pages.ts'
import { say } from '../../words.ts'
import { type FindRecords, matching, type Way } from './match.ts'

/** The command palette: pages and records by what is typed. */
export default function PaletteDialog({
  pages: { pages },
  records: Records,
  onClose,
}: {
  readonly pages: AppPages
  readonly records: FindRecords | null
  onClose(): void
}) {
  const [typed, setTyped] = useState('')
  const [found, setFound] = useState<readonly Way[]>([])
  const [at, setAt] = useState(0)
  const listId = useId()
  const own = Object.entries(pages).flatMap(([name, page]): Way[] => (page.icon ? [{ id: name, name: say(page.title), to: page.paths[0] }] : []))
  const ways = [...matching(own, typed), ...found]
  const current = ways[Math.min(at, ways.length - 1)]
  const open = (way: Way | undefined) => {
    if (!way) return
    onClose()
    goTo(way.to)
  }
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && ways.length > 0) setAt((Math.min(at, ways.length - 1) + step + ways.length) % ways.length)
    else if (event.key === 'Enter') open(current)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={say('palette.title')} onClose={onClose}>
      {Records && <Records typed={typed.trim()} onFound={setFound} />}
      <input
        className="input"
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={current && `${listId} ${current.id}`}
        aria-label={say('palette.field')}
        placeholder={say('palette.field')}
        autoFocus
        value={typed}
        onChange={event => {
          setTyped(event.target.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <div className="menu results" role="listbox" id={listId} aria-label={say('palette.title')}>
        {ways.map(way => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field above, as in every combobox
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps focus and names the active one
          <div
            key={way.id}
            id={`${listId} ${way.id}`}
            role="option"
            aria-selected={way === current}
            data-focused={way === current ? true : undefined}
            onClick={() => open(way)}
          >
            <span className="clip">{way.name}</span>
          </div>
        ))}
      </div>
      <p className="quiet small" role="status">
        {say('palette.count', { count: ways.length })}
      </p>
    </Dialog>
  )
}

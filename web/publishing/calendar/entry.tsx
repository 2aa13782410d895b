import { GripVertical } from 'lucide-react'
import { Icon } from '../../design/parts/icon.tsx'
import { Link } from '../../shell/address.tsx'
import { say } from '../../shell/words.ts'
import type { CalendarCellFragment } from './calendar.generated.ts'

export interface EntryProps {
  readonly entry: CalendarCellFragment
  readonly isHeld: boolean
  /** Takes a key on its handle. @returns whether it was one that means something here */
  press(entry: CalendarCellFragment, key: string): boolean
  leave(): void
}

/** One entry of a day: its time and title lead to it, its handle moves it. */
export function Entry({ entry, isHeld, press, leave }: EntryProps) {
  const { id, kind, title, time, status } = entry
  const isPost = kind === 'POST'
  const mayMove = isPost && status === 'SCHEDULED'
  const text = isPost ? `${time} ${title}` : title
  return (
    <li
      className={isHeld ? 'entry moving' : 'entry'}
      data-post={isPost ? id : undefined}
      data-status={status}
      draggable={mayMove}
      onDragStart={event => event.dataTransfer.setData('text/plain', id)}
    >
      {isPost ? (
        <Link to={`/posts/${id}`} draggable={false} title={text}>
          {text}
        </Link>
      ) : (
        <span className="clip">{text}</span>
      )}
      {mayMove && (
        <button
          type="button"
          aria-label={say('calendar.move', { title })}
          aria-pressed={isHeld}
          onBlur={leave}
          onKeyDown={event => {
            if (press(entry, event.key)) event.preventDefault()
          }}
        >
          <Icon of={GripVertical} />
        </button>
      )}
    </li>
  )
}

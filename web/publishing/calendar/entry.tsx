import { GripVertical } from 'lucide-react'
import { useState } from 'react'
import { Icon } from '../../design/parts/icon.tsx'
import { Link } from '../../shell/address.tsx'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import type { CalendarCellFragment } from './calendar.generated.ts'
import type { Moving } from './move.ts'
import { MoveTo } from './move-to.tsx'

export interface EntryProps {
  readonly entry: CalendarCellFragment
  readonly moving: Moving
  readonly zone: string
  /** Whether there is room to name its network. */
  readonly isWide?: boolean
  readonly mayMove: boolean
}

/** One entry of a day: its time and title lead to it, its handle moves it: by keys, and to a day that is named when it is pressed. */
export function Entry({ entry, moving, zone, isWide = false, mayMove }: EntryProps) {
  const { id, kind, title, status, platform } = entry
  const [asks, setAsks] = useState(false)
  const isPost = kind === 'POST'
  const isMovable = mayMove && isPost && status === 'SCHEDULED'
  const isHeld = moving.held?.id === id
  const time = (isHeld ? moving.held!.wall : moving.wallOf(entry)).slice(11)
  const text = isPost ? `${time} ${title}` : title
  return (
    <li
      className={isHeld ? 'entry moving' : 'entry'}
      data-post={isPost ? id : undefined}
      data-status={status}
      draggable={isMovable}
      onDragStart={event => event.dataTransfer.setData('text/plain', id)}
    >
      {isPost ? (
        <Link to={`/posts/${id}`} draggable={false} title={text}>
          {text}
          {isWide && platform && <span className="quiet"> · {networks[platform]}</span>}
        </Link>
      ) : (
        <Link to={`/campaigns/${id}`} title={text}>
          {text}
        </Link>
      )}
      {isMovable && (
        <button
          type="button"
          aria-label={say('calendar.move', { title })}
          aria-pressed={isHeld}
          onBlur={moving.leave}
          onClick={() => setAsks(true)}
          onKeyDown={event => {
            if (moving.press(entry, event.key)) event.preventDefault()
          }}
        >
          <Icon of={GripVertical} />
        </button>
      )}
      {asks && <MoveTo entry={entry} wall={moving.wallOf(entry)} zone={zone} onPut={wall => void moving.put(entry, wall)} onClose={() => setAsks(false)} />}
    </li>
  )
}

import { type FormEvent, useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { momentAtWall } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { CalendarCellFragment } from './calendar.generated.ts'

interface MoveToProps {
  readonly entry: CalendarCellFragment
  readonly wall: string
  readonly zone: string
  onPut(wall: string): void
  onClose(): void
}

/** Moves an entry to a day and time that are named. */
export function MoveTo({ entry, wall: begin, zone, onPut, onClose }: MoveToProps) {
  const [wall, setWall] = useState(begin)
  const at = momentAtWall(wall, zone)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (!at) return
    onPut(wall)
    onClose()
  }
  return (
    <Dialog title={say('calendar.move-to', { title: entry.title })} onClose={onClose}>
      <form className="form" onSubmit={save}>
        <Field
          label={say('posts.when')}
          type="datetime-local"
          value={wall}
          onChange={setWall}
          hint={say('posts.zone', { zone })}
          wrong={at ? null : say('posts.skipped')}
        />
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={!at}>
            {say('calendar.move-there')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

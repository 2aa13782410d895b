import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { momentAtWall, ownZone, wallTime } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type PostRowFragment, ReschedulePostToDocument } from './posts.generated.ts'

/** Asks for another time, in the brand's zone, which is named. */
export function Reschedule({ post, zone = ownZone, onClose }: { readonly post: PostRowFragment; readonly zone?: string | undefined; onClose(): void }) {
  const [{ error, fetching }, reschedule] = useMutation(ReschedulePostToDocument)
  const [wall, setWall] = useState(() =>
    wallTime(post.scheduledAt && Date.parse(post.scheduledAt) > Date.now() ? post.scheduledAt : new Date(Date.now() + 3_600_000), zone),
  )
  const at = momentAtWall(wall, zone)
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    if (!at) return
    const { data } = await reschedule({ input: { id: post.id, expectedVersion: post.version, scheduledAt: at.toISOString() } })
    if (data?.reschedulePost) onClose()
  }
  return (
    <Dialog title={say('posts.reschedule')} onClose={onClose}>
      <form className="form" onSubmit={event => void save(event)}>
        <Field
          label={say('posts.when')}
          type="datetime-local"
          value={wall}
          onChange={setWall}
          hint={say('posts.zone', { zone })}
          wrong={at ? problem?.sentence : say('posts.skipped')}
        />
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={fetching}>
            {say('posts.reschedule')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

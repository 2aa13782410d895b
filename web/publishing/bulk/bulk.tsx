import { CalendarClock, CircleAlert, CircleCheck, Trash2, X } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Failure } from '../../shell/region.tsx'
import { momentAtWall, ownZone, wallTime } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type BulkReportFragment, MovePostsDocument, RemovePostsDocument } from './bulk.generated.ts'
import { spread } from './spread.ts'

/** What has to be known of a post here. */
interface ChosenPost {
  readonly id: string
  readonly title: string | null
  readonly copy: string
  readonly scheduledAt: string | null
  readonly version: number
}

interface BulkProps {
  readonly posts: readonly ChosenPost[]
  readonly zone: string | undefined
  onClear(): void
  onDone(): void
}

/** What can be done with several posts at once; the result of each is told. */
export function BulkBar({ posts, zone = ownZone, onClear, onDone }: BulkProps) {
  const [moved, move] = useMutation(MovePostsDocument)
  const [removed, remove] = useMutation(RemovePostsDocument)
  const [asks, setAsks] = useState<'move' | 'delete' | null>(null)
  const [report, setReport] = useState<BulkReportFragment | null>(null)
  const problem = problemOf(moved.error ?? removed.error)
  const isBusy = moved.fetching || removed.fetching
  const byTime = posts.toSorted((a, b) => (a.scheduledAt ?? '~').localeCompare(b.scheduledAt ?? '~'))
  const finish = (told: BulkReportFragment | null | undefined) => {
    if (!told) return
    setAsks(null)
    setReport(told)
    onDone()
  }
  async function reschedule(times: readonly Date[]) {
    const items = byTime.map(({ id, version }, at) => ({ id, expectedVersion: version, scheduledAt: times[at]!.toISOString() }))
    finish((await move({ input: { items } })).data?.reschedulePosts)
  }
  const drop = async () => finish((await remove({ input: { items: posts.map(({ id, version }) => ({ id, expectedVersion: version })) } })).data?.deletePosts)
  const failure = problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />
  return (
    <section className="bulk" aria-label={say('bulk.title')}>
      <span className="grow">{say('bulk.chosen', { count: posts.length })}</span>
      <Button icon={CalendarClock} onPress={() => setAsks('move')}>
        {say('posts.reschedule')}
      </Button>
      <Button kind="danger" icon={Trash2} onPress={() => setAsks('delete')}>
        {say('bulk.delete')}
      </Button>
      <Button kind="quiet" icon={X} onPress={onClear}>
        {say('bulk.clear')}
      </Button>
      {asks === 'move' && <MoveDialog count={posts.length} zone={zone} isBusy={isBusy} failure={failure} onMove={reschedule} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <Confirm
          title={say('bulk.delete')}
          sentence={say('bulk.delete-sure', { count: posts.length })}
          verb={say('bulk.delete')}
          isBusy={isBusy}
          onConfirm={() => void drop()}
          onClose={() => setAsks(null)}
        >
          {failure}
        </Confirm>
      )}
      {report && (
        <Report
          report={report}
          posts={posts}
          onClose={() => {
            setReport(null)
            onClear()
          }}
        />
      )}
    </section>
  )
}

interface MoveProps {
  readonly count: number
  readonly zone: string
  readonly isBusy: boolean
  readonly failure: ReactNode
  onMove(times: readonly Date[]): Promise<void>
  onClose(): void
}

function MoveDialog({ count, zone, isBusy, failure, onMove, onClose }: MoveProps) {
  const [wall, setWall] = useState(() => wallTime(new Date(Date.now() + 24 * 3_600_000), zone))
  const [minutes, setMinutes] = useState('60')
  const at = momentAtWall(wall, zone)
  const apart = Number(minutes)
  const isRight = at !== null && Number.isInteger(apart) && apart >= 0
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (isRight) void onMove(spread(at, apart, count))
  }
  return (
    <Dialog title={say('bulk.move', { count })} onClose={onClose}>
      <form className="form" onSubmit={save}>
        <Field
          label={say('bulk.first')}
          type="datetime-local"
          value={wall}
          onChange={setWall}
          hint={say('posts.zone', { zone })}
          wrong={at ? null : say('posts.skipped')}
        />
        <Field
          label={say('bulk.apart')}
          value={minutes}
          onChange={setMinutes}
          hint={say('bulk.apart-hint')}
          wrong={apart >= 0 ? null : say('bulk.apart-wrong')}
        />
        {failure}
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={isBusy || !isRight}>
            {say('posts.reschedule')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** What became of each. */
function Report({ report, posts, onClose }: { readonly report: BulkReportFragment; readonly posts: readonly ChosenPost[]; onClose(): void }) {
  const [known] = useState(() => new Map(posts.map(post => [post.id, post.title || post.copy || say('posts.without-text')])))
  return (
    <Dialog title={say('bulk.report', { succeeded: report.succeeded, failed: report.failed })} onClose={onClose}>
      <ul className="list results">
        {report.results.map(({ id, error }) => (
          <li key={id}>
            <Icon of={error ? CircleAlert : CircleCheck} />
            <div className="grow">
              <p className="clip">{known.get(id) ?? id}</p>
              <p className={error ? 'small wrong' : 'small quiet'}>{error?.message ?? say('bulk.ok')}</p>
            </div>
          </li>
        ))}
      </ul>
      <div className="actions">
        <Button kind="primary" onPress={onClose}>
          {say('action.close')}
        </Button>
      </div>
    </Dialog>
  )
}

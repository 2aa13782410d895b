import { CalendarClock } from 'lucide-react'
import { useQuery } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { momentAtWall, ownZone } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { Brand } from '../brand/brand.ts'
import { networks } from '../brand/networks.ts'
import { ComposeNeighboursDocument } from './compose.generated.ts'
import type { Draft } from './draft.ts'

/** Posts nearer than this follow one upon the other, in ms: the graph's own measure of a conflict. */
const nearMs = 15 * 60_000

/** The time at which it goes out, in the brand's zone, and what goes out about then on the same networks. */
export function When({
  brand,
  draft,
  change,
  wrong,
}: {
  readonly brand: Brand
  readonly draft: Draft
  readonly wrong: string | undefined
  change(changes: Partial<Draft>): void
}) {
  const { wall, platforms, post } = draft
  const at = wall === '' ? null : momentAtWall(wall, brand.timeZone)
  const near = (ms: number) => new Date((at?.getTime() ?? 0) + ms).toISOString()
  const [{ data }] = useQuery({
    query: ComposeNeighboursDocument,
    variables: { brandId: brand.id, from: near(-nearMs + 1), to: near(nearMs) },
    pause: !at,
  })
  const neighbours = (at ? (data?.calendarEntries?.nodes ?? []) : []).filter(
    each => each?.kind === 'POST' && each.platform && platforms.includes(each.platform) && each.id !== post?.id,
  )
  const zone = brand.timeZone === ownZone ? say('compose.zone', { zone: brand.timeZone }) : say('compose.zone-other', { zone: brand.timeZone })
  return (
    <>
      <Field
        label={say('compose.when')}
        type="datetime-local"
        value={wall}
        onChange={next => change({ wall: next })}
        hint={zone}
        wrong={wall !== '' && !at ? say('posts.skipped') : wrong}
      />
      {neighbours.map(
        each =>
          each && (
            <Note key={each.id} meaning="warning" icon={CalendarClock}>
              {say('compose.conflict', { title: each.title, time: each.time, network: networks[each.platform!] })}
            </Note>
          ),
      )}
    </>
  )
}

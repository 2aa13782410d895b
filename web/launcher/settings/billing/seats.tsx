import { Armchair, Bot, Plus, UserRound, X } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { usePath, useSearch } from '../../../shell/address.tsx'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { afterOf, Pager } from '../../../shell/parts/listing.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { AssignSeatDocument, ReleaseSeatDocument, SeatsDocument, type SeatsQuery } from './billing.generated.ts'
import { refusalOf } from './refusals.ts'

type Seat = NonNullable<NonNullable<NonNullable<SeatsQuery['seats']>['nodes']>[number]>

/** Who holds the seats of the organization's bundle. @param onChange takes that another number is held */
export function Seats({ total, onChange }: { readonly total: number; onChange(): void }) {
  const [path, search] = [usePath(), useSearch()]
  const { data, state, problem, retry } = useRead(SeatsDocument, afterOf(search), { isEmpty: ({ seats }) => seats?.totalCount === 0 })
  const seats = (data?.seats?.nodes ?? []).flatMap(each => each ?? [])
  const held = data?.seats?.totalCount ?? seats.length
  const holders = new Set(seats.map(({ user }) => user?.id))
  const without = (data?.organizationMembers?.nodes ?? []).flatMap(each => (each?.user && !holders.has(each.user.id) ? [each.user] : []))
  const changed = () => {
    retry()
    onChange()
  }
  return (
    <Region
      isFlush
      title={say('billing.holders')}
      state={data && !data.seats ? 'error' : state}
      problem={problem}
      retry={retry}
      empty={{ icon: Armchair, sentence: say('billing.holders-empty') }}
    >
      {without.length > 0 && held < total && <Assign members={without} onDone={changed} />}
      {held >= total && <p className="quiet small inset">{say('billing.none-free', { count: total })}</p>}
      <ul className="list">
        {seats.map(each => (
          <SeatLine key={each.id} seat={each} onDone={changed} />
        ))}
      </ul>
      <Pager path={path} page={data?.seats?.pageInfo} count={say('billing.used', { used: held, limit: total })} />
    </Region>
  )
}

function Assign({ members, onDone }: { readonly members: readonly { readonly id: string; readonly name: string }[]; onDone(): void }) {
  const [{ error, fetching }, assign] = useMutation(AssignSeatDocument)
  const [chosen, setChosen] = useState<string | null>(null)
  const refused = refusalOf(error)
  const member = members.find(({ id }) => id === chosen) ?? members[0]!
  return (
    <div className="filters inset">
      <Select label={say('billing.member')} choices={members} value={member.id} onChange={setChosen} />
      <Button
        icon={Plus}
        isDisabled={fetching}
        onPress={() =>
          void assign({ input: { userId: member.id } }).then(({ data }) => {
            onDone()
            if (data?.assignSeat) toast({ sentence: say('billing.assigned', { name: member.name }) })
          })
        }
      >
        {say('billing.assign')}
      </Button>
      {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
    </div>
  )
}

function SeatLine({ seat: { kind, assignedAt, user }, onDone }: { readonly seat: Seat; onDone(): void }) {
  const [{ error, fetching }, release] = useMutation(ReleaseSeatDocument)
  const [asks, setAsks] = useState(false)
  const name = user?.name ?? ''
  return (
    <li data-seat={user?.id}>
      <Icon of={kind === 'AGENT' ? Bot : UserRound} large />
      <div className="grow">
        <p className="clip">{name}</p>
        <p className="quiet small">
          {say(`billing.kind-${kind}`)} · {say('billing.since', { when: moment(assignedAt) })}
        </p>
      </div>
      <Button kind="quiet" icon={X} onPress={() => setAsks(true)} aria-label={say('action.of', { action: say('billing.release'), name })}>
        {say('billing.release')}
      </Button>
      {asks && (
        <Confirm
          title={say('billing.release')}
          sentence={say('billing.release-sure', { name })}
          verb={say('billing.release')}
          isBusy={fetching}
          problem={refusalOf(error)}
          onClose={() => setAsks(false)}
          onConfirm={() =>
            void release({ input: { userId: user?.id ?? '' } }).then(({ data }) => {
              onDone()
              if (!data?.releaseSeat) return
              setAsks(false)
              toast({ sentence: say('billing.released', { name }) })
            })
          }
        />
      )}
    </li>
  )
}

import { CircleAlert, CircleCheck, CirclePause, CircleX, Clock, type LucideIcon, Pencil } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { type Meaning, Status } from '../../../design/parts/status.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { FormDialog } from '../../../shell/parts/ask.tsx'
import { money } from '../../../shell/parts/money.ts'
import { Region } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { type BillingQuery, type BillingStatus, ChangeSeatsDocument, type SubscriptionLineFragment } from './billing.generated.ts'
import { type Choice, Preview, seatsOf } from './preview.tsx'
import { refusalOf } from './refusals.ts'

const statuses: Readonly<Record<BillingStatus, readonly [Meaning, LucideIcon]>> = {
  INCOMPLETE: ['warning', Clock],
  TRIALING: ['info', Clock],
  ACTIVE: ['positive', CircleCheck],
  PAST_DUE: ['danger', CircleAlert],
  UNPAID: ['danger', CircleAlert],
  PAUSED: ['warning', CirclePause],
  CANCELED: ['plain', CircleX],
}

const Standing = ({ of }: { readonly of: BillingStatus }) => {
  const [meaning, icon] = statuses[of]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`billing.status-${of}`)}
    </Status>
  )
}

/** Bundles and verifications that are or were paid for. @param bundle the standing one of an organization, whose seats can be changed */
export function Subscriptions({
  subscriptions,
  verifications,
  bundle,
  used,
  reload,
}: {
  readonly subscriptions: readonly SubscriptionLineFragment[]
  readonly verifications: NonNullable<BillingQuery['workspaceVerifications']>
  readonly bundle: SubscriptionLineFragment | undefined
  /** Seats that are held. */
  readonly used: number
  reload(): void
}) {
  const [isChanging, setChanging] = useState(false)
  if (subscriptions.length + verifications.length === 0) return null
  return (
    <>
      <Region
        isFlush
        title={say('billing.subscriptions')}
        tools={
          bundle && (
            <Button icon={Pencil} onPress={() => setChanging(true)}>
              {say('billing.change-seats')}
            </Button>
          )
        }
        state="ready"
      >
        <ul className="list">
          {subscriptions.map(each => (
            <li key={each.id} data-subscription={each.id}>
              <div className="grow">
                <p className="clip">{say(`plan.${each.package}`)}</p>
                <p className="quiet small">
                  {say('billing.line', { amount: money(each.amount), interval: say(`billing.per-${each.interval}`), count: each.seats })}
                  {until(each)}
                </p>
              </div>
              <Standing of={each.status} />
            </li>
          ))}
          {verifications.map(each => (
            <li key={each.id}>
              <div className="grow">
                <p className="clip">{say('plan.FREE_WORKSPACE')}</p>
                <p className="quiet small">
                  {say('billing.line', { amount: money(each.amount), interval: say('billing.per-YEAR'), count: 0 })}
                  {until(each)}
                </p>
              </div>
              <Standing of={each.status} />
            </li>
          ))}
        </ul>
      </Region>
      {isChanging && bundle && <SeatsDialog subscription={bundle} used={used} onClose={() => setChanging(false)} onDone={reload} />}
    </>
  )
}

/** When it is paid next, or ends. */
function until({
  status,
  currentPeriodEnd,
  cancelAtPeriodEnd = false,
  endedAt = null,
}: Pick<SubscriptionLineFragment, 'status' | 'currentPeriodEnd'> & Partial<Pick<SubscriptionLineFragment, 'cancelAtPeriodEnd' | 'endedAt'>>): string {
  if (endedAt) return ` · ${say('billing.ended', { when: moment(endedAt) })}`
  if (!currentPeriodEnd || status === 'CANCELED') return ''
  return ` · ${say(cancelAtPeriodEnd ? 'billing.ends' : 'billing.renews', { when: moment(currentPeriodEnd) })}`
}

/** Changes how many seats a bundle has, once its new price has been seen. */
function SeatsDialog({
  subscription: { package: name, interval, seats, version },
  used,
  onClose,
  onDone,
}: {
  readonly subscription: SubscriptionLineFragment
  readonly used: number
  onClose(): void
  onDone(): void
}) {
  const [{ error, fetching }, change] = useMutation(ChangeSeatsDocument)
  const [typed, setTyped] = useState(String(seats))
  const [seen, setSeen] = useState<Choice | null>(null)
  const idempotencyKey = useOnce()
  const quantity = seatsOf(typed)
  const isTooFew = quantity !== null && quantity < used
  const isNew = quantity !== null && quantity !== seats && !isTooFew
  const problem = refusalOf(error)
  async function save() {
    if (!isNew || seen?.seats !== quantity) return
    const { data } = await change({ input: { quantity, expectedVersion: version, idempotencyKey } })
    onDone()
    if (!data?.changeSeats) return
    toast({ sentence: say('billing.seats-changed', { count: quantity }) })
    onClose()
  }
  return (
    <FormDialog
      title={say('billing.change-seats')}
      verb={isNew ? say('billing.change-to', { count: quantity }) : say('billing.change-seats')}
      isBusy={fetching || !isNew || seen?.seats !== quantity}
      problem={problem}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('billing.seats-count')}
        value={typed}
        onChange={setTyped}
        inputMode="numeric"
        hint={say('billing.seats-held', { count: used })}
        wrong={quantity === null ? say('billing.seats-wrong') : isTooFew ? say('billing.SEATS_IN_USE') : null}
        required
      />
      {isNew && <Preview choice={{ package: name, interval, seats: quantity }} onKnown={setSeen} />}
    </FormDialog>
  )
}

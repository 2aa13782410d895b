import { ShoppingCart } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { type Column, Table } from '../../../design/parts/table.tsx'
import { Confirm, FormDialog } from '../../../shell/parts/ask.tsx'
import { money } from '../../../shell/parts/money.ts'
import { Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { type BillingInterval, type BillingPackage, type BillingQuery, BuyBundleDocument, VerifyWorkspaceDocument } from './billing.generated.ts'
import { type Choice, Preview, seatsOf } from './preview.tsx'
import { refusalOf } from './refusals.ts'

type PlanOffered = NonNullable<BillingQuery['billingPlans']>[number]

const intervals: readonly BillingInterval[] = ['MONTH', 'YEAR']

const columnsOf = (): readonly Column<PlanOffered & { readonly id: string }>[] => [
  { id: 'plan', heading: say('billing.plan'), isMain: true, cell: ({ package: name }) => say(`plan.${name}`) },
  { id: 'apps', heading: say('billing.platform-apps'), isFigure: true, cell: ({ apps }) => (apps === null ? say('billing.all-apps') : String(apps)) },
  { id: 'monthly', heading: say('billing.seat-month'), isFigure: true, cell: ({ monthly }) => money(monthly) },
  { id: 'yearly', heading: say('billing.seat-year'), isFigure: true, cell: ({ yearly }) => money(yearly) },
]

/** What can be bought where no bundle stands. @param isVerified whether the free workspace stands already */
export function Plans({
  plans,
  hasSeats,
  isVerified,
  returnTo,
}: {
  readonly plans: readonly PlanOffered[]
  /** Whether the context has members who hold seats. */
  readonly hasSeats: boolean
  readonly isVerified: boolean
  readonly returnTo: string
}) {
  const [open, setOpen] = useState<'bundle' | 'free' | null>(null)
  return (
    <>
      <Region
        isFlush
        title={say('billing.plans')}
        tools={
          <>
            {!isVerified && <Button onPress={() => setOpen('free')}>{say('billing.verify')}</Button>}
            <Button kind="primary" icon={ShoppingCart} onPress={() => setOpen('bundle')}>
              {say('billing.choose')}
            </Button>
          </>
        }
        state="ready"
      >
        <Table label={say('billing.plans')} columns={columnsOf()} rows={plans.map(each => ({ ...each, id: each.package }))} />
      </Region>
      {open === 'bundle' && <BuyDialog plans={plans} hasSeats={hasSeats} returnTo={returnTo} onClose={() => setOpen(null)} />}
      {open === 'free' && <VerifyDialog returnTo={returnTo} onClose={() => setOpen(null)} />}
    </>
  )
}

function BuyDialog({
  plans,
  hasSeats,
  returnTo,
  onClose,
}: {
  readonly plans: readonly PlanOffered[]
  readonly hasSeats: boolean
  readonly returnTo: string
  onClose(): void
}) {
  const [{ error, fetching }, buy] = useMutation(BuyBundleDocument)
  const [name, setName] = useState<BillingPackage>(plans[0]!.package)
  const [interval, setInterval] = useState<BillingInterval>('MONTH')
  const [typed, setTyped] = useState('1')
  const [seen, setSeen] = useState<Choice | null>(null)
  const seats = seatsOf(typed)
  // Another choice is another page.
  const idempotencyKey = useMemo(() => crypto.randomUUID(), [name, interval, seats])
  const isSeen = seen !== null && seen.package === name && seen.interval === interval && seen.seats === seats
  async function leave() {
    if (!isSeen || seats === null) return
    const { data } = await buy({ input: { package: name, interval, seats, returnTo, idempotencyKey } })
    if (data?.createBundleCheckout?.url) location.assign(data.createBundleCheckout.url)
  }
  return (
    <FormDialog
      title={say('billing.choose')}
      verb={say('billing.checkout')}
      isBusy={fetching || !isSeen}
      problem={refusalOf(error)}
      onDo={() => void leave()}
      onClose={onClose}
    >
      <Select
        label={say('billing.plan')}
        choices={plans.map(({ package: id }) => ({ id, name: say(`plan.${id}`) }))}
        value={name}
        onChange={id => setName(plans.find(each => each.package === id)?.package ?? name)}
      />
      <Select
        label={say('billing.interval')}
        choices={intervals.map(id => ({ id, name: say(`billing.interval-${id}`) }))}
        value={interval}
        onChange={id => setInterval(intervals.find(each => each === id) ?? interval)}
      />
      {hasSeats && (
        <Field
          label={say('billing.seats-count')}
          value={typed}
          onChange={setTyped}
          inputMode="numeric"
          hint={say('billing.seats-hint')}
          wrong={seats === null ? say('billing.seats-wrong') : null}
          required
        />
      )}
      {seats !== null && <Preview choice={{ package: name, interval, seats }} onKnown={setSeen} />}
      <p className="quiet small">{say('billing.checkout-hint')}</p>
    </FormDialog>
  )
}

function VerifyDialog({ returnTo, onClose }: { readonly returnTo: string; onClose(): void }) {
  const [{ error, fetching }, verify] = useMutation(VerifyWorkspaceDocument)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  async function leave() {
    const { data } = await verify({ input: { returnTo, idempotencyKey } })
    if (data?.createFreeWorkspaceCheckout?.url) location.assign(data.createFreeWorkspaceCheckout.url)
  }
  return (
    <Confirm
      title={say('billing.verify')}
      sentence={say('billing.verify-means')}
      verb={say('billing.checkout')}
      isDanger={false}
      isBusy={fetching}
      problem={refusalOf(error)}
      onClose={onClose}
      onConfirm={() => void leave()}
    />
  )
}

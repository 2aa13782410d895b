import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { money } from '../../shell/parts/money.ts'
import { say } from '../../shell/words.ts'
import { useMayRefund } from '../refunds/detail.tsx'
import { RefundForm } from '../refunds/new.tsx'
import { PaymentLinkDialog } from './links/new.tsx'
import { CancelOrderDocument, CaptureOrderDocument, type OrderDetailsFragment, VoidOrderDocument } from './orders.generated.ts'

type Ask = 'link' | 'refund' | 'capture' | 'void' | 'cancel'

const titles: Readonly<Record<Ask, string>> = {
  link: 'links.create',
  refund: 'refunds.create',
  capture: 'orders.capture',
  void: 'orders.void',
  cancel: 'orders.cancel',
}

/** What this person may do next with an order's money. */
export function OrderActions({ order, reload }: { readonly order: OrderDetailsFragment; reload(): void }) {
  const { may } = useRights()
  const mayRefund = useMayRefund()
  const [asks, setAsks] = useState<Ask | null>(null)
  const isHeld = order.paymentPhase === 'AUTHORIZED'
  const isOpen = order.paymentPhase === 'NONE' && (order.status === 'DRAFT' || order.status === 'FAILED')
  const offered: readonly Ask[] = [
    ...(isHeld && may('payments:transactions.write') ? (['capture', 'void'] as const) : []),
    ...(BigInt(order.refundable.amountMinor) > 0n && mayRefund ? (['refund'] as const) : []),
    ...(isOpen && may('payments:payments.create') ? (['link', 'cancel'] as const) : []),
  ]
  if (offered.length === 0 && asks !== 'link') return null
  return (
    <>
      <div className="actions">
        {offered.map(ask => (
          <Button key={ask} kind={ask === 'capture' || ask === 'link' ? 'primary' : 'secondary'} onPress={() => setAsks(ask)}>
            {say(titles[ask])}
          </Button>
        ))}
      </div>
      {asks === 'link' && <PaymentLinkDialog order={order} reload={reload} onClose={() => setAsks(null)} />}
      {asks === 'refund' && <RefundForm order={order} reload={reload} onClose={() => setAsks(null)} />}
      {asks && asks !== 'refund' && asks !== 'link' && <Sure key={asks} ask={asks} order={order} reload={reload} onClose={() => setAsks(null)} />}
    </>
  )
}

/** Asks once more, with order and amount, before money moves or an order ends. */
function Sure({
  ask,
  order,
  reload,
  onClose,
}: {
  readonly ask: Exclude<Ask, 'link' | 'refund'>
  readonly order: OrderDetailsFragment
  reload(): void
  onClose(): void
}) {
  const idempotencyKey = useOnce()
  const [captured, capture] = useMutation(CaptureOrderDocument)
  const [voided, release] = useMutation(VoidOrderDocument)
  const [cancelled, cancel] = useMutation(CancelOrderDocument)
  const known = { expectedVersion: order.version, idempotencyKey }
  async function act() {
    const { error } =
      ask === 'capture'
        ? await capture({ input: { orderId: order.id, ...known } })
        : ask === 'void'
          ? await release({ input: { orderId: order.id, ...known } })
          : await cancel({ input: { id: order.id, ...known } })
    if (error) return
    reload()
    onClose()
  }
  return (
    <Confirm
      title={say(`orders.${ask}`)}
      sentence={say(`orders.${ask}-sentence`, { amount: money(order.total), number: order.number })}
      verb={say(`orders.${ask}`)}
      isDanger={ask !== 'capture'}
      isBusy={captured.fetching || voided.fetching || cancelled.fetching}
      problem={problemOf(captured.error ?? voided.error ?? cancelled.error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

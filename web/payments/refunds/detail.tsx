import { CircleAlert, CircleHelp, UserRound } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { Link } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { money } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { DecideRefundDocument, type RefundDecision, RefundDetailDocument, type RefundDetailsFragment } from './refunds.generated.ts'
import { RefundState } from './state.tsx'

/** Whether this person may give money back, and decide on it. */
export function useMayRefund(): boolean {
  const { may } = useRights()
  return may('payments:transactions.refund') || may('payments:transactions.write')
}

/** One refund beside the list. One above the threshold waits here for a second person. */
export function RefundPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(RefundDetailDocument, { id })
  const refund = data?.refund
  return (
    <Panel
      label={say('refunds.one')}
      heading={refund && say('refunds.of', { amount: money(refund.amount) })}
      back={back}
      state={data && !refund ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {refund && <Details refund={refund} reload={retry} />}
    </Panel>
  )
}

function Details({ refund, reload }: { readonly refund: RefundDetailsFragment; reload(): void }) {
  const { amount, createdAt, decidedAt, decidedBy, failure, note, order, origin, reason, requestedBy, status } = refund
  return (
    <>
      <div>
        <RefundState status={status} />
      </div>
      {status === 'AWAITING_APPROVAL' && <Decide refund={refund} reload={reload} />}
      {status === 'UNKNOWN' && (
        <Note meaning="warning" icon={CircleHelp}>
          {say('refunds.unknown')}
        </Note>
      )}
      {status === 'FAILED' && failure && (
        <Note meaning="danger" icon={CircleAlert}>
          {failure.message}
        </Note>
      )}
      <Facts
        of={[
          [say('refunds.amount'), money(amount)],
          [
            say('orders.order'),
            order && (
              <Link key="order" to={`/orders/${order.id}`}>
                {order.number}
              </Link>
            ),
          ],
          [say('refunds.reason'), say(`refund-reason.${reason}`)],
          [say('refunds.note'), note],
          [say('refunds.by'), requestedBy?.name ?? say(`refund-origin.${origin}`)],
          [say('refunds.created'), moment(createdAt)],
          [say('refunds.decided-by'), decidedBy?.name],
          [say('refunds.decided'), decidedAt && moment(decidedAt)],
        ]}
      />
    </>
  )
}

/** The decision of a second person; whoever asked for the refund is told that somebody else decides. */
function Decide({ refund, reload }: { readonly refund: RefundDetailsFragment; reload(): void }) {
  const self = useRights()
  const mayRefund = useMayRefund()
  const [decision, setDecision] = useState<RefundDecision | null>(null)
  const isOwn = refund.requestedBy !== null && refund.requestedBy?.id === self.id
  return (
    <>
      <Note meaning="warning" icon={UserRound}>
        {say(isOwn ? 'refunds.waits-own' : 'refunds.waits')}
      </Note>
      {mayRefund && (
        <div className="actions">
          {!isOwn && (
            <Button kind="primary" onPress={() => setDecision('APPROVE')}>
              {say('refunds.approve')}
            </Button>
          )}
          <Button onPress={() => setDecision('REJECT')}>{say('refunds.reject')}</Button>
        </div>
      )}
      {decision && <DecideForm refund={refund} decision={decision} reload={reload} onClose={() => setDecision(null)} />}
    </>
  )
}

function DecideForm({
  refund: { amount, id, order, requestedBy, version },
  decision,
  reload,
  onClose,
}: {
  readonly refund: RefundDetailsFragment
  readonly decision: RefundDecision
  reload(): void
  onClose(): void
}) {
  const once = useOnce()
  const [{ error, fetching }, decide] = useMutation(DecideRefundDocument)
  const [comment, setComment] = useState('')
  const problem = problemOf(error)
  const verb = say(decision === 'APPROVE' ? 'refunds.approve' : 'refunds.reject')
  async function save() {
    const said = decision === 'REJECT' && comment.trim() && { comment: comment.trim() }
    const { data } = await decide({ input: { id, decision, ...said, expectedVersion: version, idempotencyKey: once } })
    if (!data?.decideRefund) return
    toast({ sentence: say(decision === 'APPROVE' ? 'refunds.approved' : 'refunds.rejected', { amount: money(amount) }) })
    reload()
    onClose()
  }
  return (
    <FormDialog title={verb} verb={verb} isBusy={fetching} problem={problem} fields={['comment']} onDo={() => void save()} onClose={onClose}>
      <Facts
        of={[
          [say('refunds.amount'), <strong key="amount">{money(amount)}</strong>],
          [say('orders.order'), order?.number],
          [say('refunds.remaining'), order && money(order.refundable)],
          [say('refunds.by'), requestedBy?.name],
        ]}
      />
      {decision === 'REJECT' && (
        <Field label={say('refunds.why')} rows={3} value={comment} onChange={setComment} wrong={problem?.field === 'comment' ? problem.sentence : null} />
      )}
    </FormDialog>
  )
}

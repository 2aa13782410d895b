import { ArrowLeftRight, CircleAlert, type LucideIcon, PenLine, Undo2 } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Timeline } from '../../design/history/timeline.tsx'
import { Link } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { OrderTimelineDocument, type OrderTimelineQuery } from './orders.generated.ts'

interface Happened {
  readonly key: string
  readonly at: string
  readonly icon: LucideIcon
  readonly title: ReactNode
  readonly detail?: ReactNode
}

/** What happened to an order, the newest first: what people and programs did, calls to the processor, refunds and disputes. @param version read anew when it grows */
export function OrderTimeline({ id, version }: { readonly id: string; readonly version: number }) {
  const { may, isKnown } = useRights()
  const variables = { id, audit: may('payments:audit.read'), money: may('payments:transactions.read') }
  const isHidden = !isKnown || !(variables.audit || variables.money)
  const { data, problem, retry } = useRead(OrderTimelineDocument, variables, { pause: isHidden })
  useEffect(() => {
    if (!isHidden) retry()
  }, [version, isHidden])
  if (isHidden) return null
  const steps = data ? happened(data).sort((one, other) => other.at.localeCompare(one.at)) : []
  if (steps.length === 0 && !problem) return null
  return (
    <>
      <h3>{say('orders.timeline')}</h3>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} retry={retry} />}
      <Timeline steps={steps.map(({ at, ...step }) => ({ ...step, time: moment(at) }))} />
    </>
  )
}

function happened({ order, paymentAuditLog }: OrderTimelineQuery): Happened[] {
  const changes = (paymentAuditLog?.nodes ?? []).flatMap((each): Happened[] => {
    if (!each) return []
    const { id, at, action, user, apiKeyId, appId } = each
    return [
      { key: id, at, icon: PenLine, title: sayIfKnown(`order-action.${action}`, action), detail: user?.name ?? appId ?? (apiKeyId ? say('audit.key') : null) },
    ]
  })
  const calls = (order?.transactions?.nodes ?? []).flatMap((each): Happened[] => {
    if (!each) return []
    const { id, type, status, amount, createdAt } = each
    const title = <Link to={`/transactions/${id}`}>{say(`transaction-type.${type}`)}</Link>
    return [{ key: id, at: createdAt, icon: ArrowLeftRight, title, detail: `${money(amount)} · ${say(`transaction.${status}`)}` }]
  })
  const refunds = (order?.refunds ?? []).flatMap((each): Happened[] => {
    if (!each) return []
    const title = <Link to={`/refunds/${each.id}`}>{say('refunds.one')}</Link>
    return [{ key: each.id, at: each.createdAt, icon: Undo2, title, detail: `${money(each.amount)} · ${say(`refund.${each.status}`)}` }]
  })
  const disputes = (order?.disputes ?? []).flatMap((each): Happened[] => {
    if (!each) return []
    const { id, openedAt, closedAt, status, amount } = each
    const title = <Link to={`/disputes/${id}`}>{say('disputes.one')}</Link>
    const opened = { key: id, at: openedAt, icon: CircleAlert, title, detail: `${money(amount)} · ${say('disputes.opened')}` }
    return closedAt ? [opened, { ...opened, key: `${id} closed`, at: closedAt, detail: `${money(amount)} · ${say(`dispute.${status}`)}` }] : [opened]
  })
  return [...changes, ...calls, ...refunds, ...disputes]
}

import { Ban, CircleAlert, CircleCheck, Clock, type LucideIcon, PenLine, Undo2 } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { OrderStatus } from './orders.generated.ts'

const looks: Readonly<Record<OrderStatus, readonly [Meaning, LucideIcon]>> = {
  DRAFT: ['plain', PenLine],
  PENDING: ['info', Clock],
  PAID: ['positive', CircleCheck],
  PARTIALLY_REFUNDED: ['warning', Undo2],
  REFUNDED: ['warning', Undo2],
  CANCELLED: ['plain', Ban],
  FAILED: ['danger', CircleAlert],
}

/** How an order stands. */
export function OrderState({ status }: { readonly status: OrderStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`order.${status}`)}
    </Status>
  )
}

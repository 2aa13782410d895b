import { Ban, CircleCheck, type LucideIcon, PenLine, Send } from 'lucide-react'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { say } from '../../shell/words.ts'
import type { InvoiceStatus } from './invoices.generated.ts'

const looks: Readonly<Record<InvoiceStatus, readonly [Meaning, LucideIcon]>> = {
  DRAFT: ['plain', PenLine],
  FINALIZED: ['info', Send],
  PAID: ['positive', CircleCheck],
  VOID: ['plain', Ban],
}

/** How far an invoice has got. */
export function InvoiceState({ status }: { readonly status: InvoiceStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`invoice.${status}`)}
    </Status>
  )
}

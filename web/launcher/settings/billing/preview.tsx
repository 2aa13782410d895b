import { useEffect, useState } from 'react'
import { Facts } from '../../../design/parts/facts.tsx'
import { money } from '../../../shell/parts/money.ts'
import { useRead } from '../../../shell/read.ts'
import { Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { type BillingInterval, type BillingPackage, BillingPreviewDocument } from './billing.generated.ts'

/** What is asked the price of. */
export interface Choice {
  readonly package: BillingPackage
  readonly interval: BillingInterval
  readonly seats: number
}

/** Nobody is asked while somebody types, in ms. */
const pauseMs = 300

/** The number of seats that somebody typed; null for what is none. */
export function seatsOf(text: string): number | null {
  const count = /^\d{1,6}$/.test(text.trim()) ? Number(text) : 0
  return count >= 1 && count <= 100_000 ? count : null
}

/** A line as the processor writes it, with its quantity where it does not say that already. */
const nameOf = (what: string, quantity: number): string => (/^\d/.test(what) ? what : say('billing.times', { what, quantity }))

/** What a choice would cost, as the processor says. @param onKnown takes the choice whose price is shown */
export function Preview({ choice, onKnown }: { readonly choice: Choice; onKnown(choice: Choice): void }) {
  const [asked, setAsked] = useState(choice)
  const { package: name, interval, seats } = choice
  useEffect(() => {
    const timer = setTimeout(() => setAsked({ package: name, interval, seats }), pauseMs)
    return () => clearTimeout(timer)
  }, [name, interval, seats])
  const { data, state, problem, retry } = useRead(BillingPreviewDocument, asked)
  const preview = data?.billingPreview
  const isCurrent = asked.package === name && asked.interval === interval && asked.seats === seats
  useEffect(() => {
    if (preview && isCurrent && state === 'ready') onKnown(asked)
  }, [preview, isCurrent, state, asked, onKnown])
  return (
    <Region state={isCurrent ? state : 'loading'} problem={problem} retry={retry} lines={3} aria-label={say('billing.price')}>
      {preview && (
        <Facts
          of={[
            ...preview.lines.map(({ description, quantity, amount }) => [nameOf(description, quantity), money(amount)] as const),
            [say('billing.due-now'), money(preview.dueNow)],
            [say(`billing.recurring-${interval}`), money(preview.recurring)],
          ]}
        />
      )}
    </Region>
  )
}

import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useDraft, useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { type Line, LineFields, lineInputs, noLine } from './lines.tsx'
import { CreateOrderDocument } from './orders.generated.ts'

/** Makes a draft order. What was typed outlives a reload and a sign-in on the way. */
export function CreateOrder({ onClose, reload }: { onClose(): void; reload(): void }) {
  const once = useOnce()
  const [{ error, fetching }, create] = useMutation(CreateOrderDocument)
  const [draft, setDraft, forget] = useDraft('order', { currency: 'EUR', description: '', reference: '', lines: [noLine] as readonly Line[] })
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { currency, description, reference, lines } = draft
  async function save() {
    setTried(true)
    const written = lineInputs(lines, currency)
    if (!written) return
    const input = {
      currency,
      lines: written,
      ...(description.trim() && { description: description.trim() }),
      ...(reference.trim() && { reference: reference.trim() }),
      idempotencyKey: once,
    }
    const { data: made } = await create({ input })
    if (!made?.createOrder) return
    forget()
    toast({ sentence: say('orders.made', { number: made.createOrder.number }) })
    reload()
    goTo(`/orders/${made.createOrder.id}`)
  }
  return (
    <FormDialog
      title={say('orders.create')}
      verb={say('orders.create')}
      isBusy={fetching}
      problem={problem}
      fields={['description', 'reference']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <LineFields currency={currency} lines={lines} isTried={isTried} onChange={changes => setDraft({ ...draft, ...changes })} />
      <Field
        label={say('orders.description')}
        value={description}
        onChange={text => setDraft({ ...draft, description: text })}
        wrong={problem?.field === 'description' ? problem.sentence : null}
      />
      <Field
        label={say('orders.reference')}
        value={reference}
        onChange={text => setDraft({ ...draft, reference: text })}
        hint={say('orders.reference-hint')}
        wrong={problem?.field === 'reference' ? problem.sentence : null}
      />
    </FormDialog>
  )
}

import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useDraft, useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { CreateCustomerDocument } from './customers.generated.ts'

/** Adds a customer. Payment methods come by the customer's own checkout, never by a form here. */
export function CreateCustomer({ reload, onClose }: { reload(): void; onClose(): void }) {
  const once = useOnce()
  const [{ error, fetching }, create] = useMutation(CreateCustomerDocument)
  const [draft, setDraft, forget] = useDraft('customer', { name: '', email: '', reference: '' })
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { name, email, reference } = draft
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  async function save() {
    setTried(true)
    if (name.trim() === '') return
    const input = {
      name: name.trim(),
      ...(email.trim() && { email: email.trim() }),
      ...(reference.trim() && { reference: reference.trim() }),
      idempotencyKey: once,
    }
    const { data } = await create({ input })
    if (!data?.createCustomer) return
    forget()
    toast({ sentence: say('customers.made', { name: name.trim() }) })
    reload()
    onClose()
    goTo(`/customers/${data.createCustomer.id}`)
  }
  return (
    <FormDialog
      title={say('customers.create')}
      verb={say('customers.create')}
      isBusy={fetching}
      problem={problem}
      fields={['name', 'email', 'reference']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('customers.name')}
        value={name}
        onChange={text => setDraft({ ...draft, name: text })}
        wrong={wrong('name') ?? (isTried && name.trim() === '' ? say('form.required') : null)}
      />
      <Field label={say('customers.email')} type="email" value={email} onChange={text => setDraft({ ...draft, email: text })} wrong={wrong('email')} />
      <Field label={say('customers.reference')} value={reference} onChange={text => setDraft({ ...draft, reference: text })} wrong={wrong('reference')} />
    </FormDialog>
  )
}

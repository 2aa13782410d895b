import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useDraft, useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { minorOf, money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { CreateOrderDocument, CurrenciesDocument } from './orders.generated.ts'

interface Line {
  readonly name: string
  readonly quantity: string
  readonly amount: string
}

const noLine: Line = { name: '', quantity: '1', amount: '' }
const common = ['EUR', 'USD', 'GBP', 'CHF']

/** Makes a draft order. What was typed outlives a reload and a sign-in on the way. */
export function CreateOrder({ onClose, reload }: { onClose(): void; reload(): void }) {
  const once = useOnce()
  const { data } = useRead(CurrenciesDocument, {})
  const [{ error, fetching }, create] = useMutation(CreateOrderDocument)
  const [draft, setDraft, forget] = useDraft('order', { currency: 'EUR', description: '', reference: '', lines: [noLine] as readonly Line[] })
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const { currency, description, reference, lines } = draft
  const codes = (data?.paymentCurrencies ?? []).flatMap(each => each?.code ?? [])
  const offered = [...new Set([currency, ...common.filter(code => codes.includes(code)), ...codes])]
  const change = (at: number, changes: Partial<Line>) =>
    setDraft({ ...draft, lines: lines.map((line, each) => (each === at ? { ...line, ...changes } : line)) })
  const isQuantity = (text: string) => /^[1-9]\d{0,5}$/.test(text.trim())
  const amounts = lines.map(({ amount }) => minorOf(amount, currency))
  const sum = lines.reduce((total, { quantity }, at) => total + BigInt(amounts[at] ?? 0) * BigInt(isQuantity(quantity) ? quantity.trim() : 0), 0n)
  async function save() {
    setTried(true)
    if (lines.some(({ name, quantity }, at) => name.trim() === '' || !isQuantity(quantity) || amounts[at] === null)) return
    const input = {
      currency,
      lines: lines.map(({ name, quantity }, at) => ({ name: name.trim(), quantity: Number(quantity), unitAmountMinor: amounts[at]! })),
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
      <Select
        label={say('orders.currency')}
        value={currency}
        onChange={id => setDraft({ ...draft, currency: id })}
        choices={offered.map(code => ({ id: code, name: code }))}
      />
      {lines.map((line, at) => (
        <fieldset key={at} className="line">
          <legend>{say('orders.line', { number: at + 1 })}</legend>
          <Field
            label={say('orders.item')}
            value={line.name}
            onChange={name => change(at, { name })}
            wrong={isTried && line.name.trim() === '' ? say('form.required') : null}
          />
          <Field
            label={say('orders.quantity')}
            inputMode="numeric"
            value={line.quantity}
            onChange={quantity => change(at, { quantity })}
            wrong={isTried && !isQuantity(line.quantity) ? say('orders.no-quantity') : null}
          />
          <Field
            label={say('orders.unit-in', { currency })}
            inputMode="decimal"
            value={line.amount}
            onChange={amount => change(at, { amount })}
            wrong={isTried && amounts[at] === null ? say('orders.no-amount') : null}
          />
          {lines.length > 1 && (
            <Button
              kind="quiet"
              icon={Trash2}
              name={say('orders.remove-line', { number: at + 1 })}
              onPress={() => setDraft({ ...draft, lines: lines.filter((_, each) => each !== at) })}
            />
          )}
        </fieldset>
      ))}
      <div className="actions">
        <Button icon={Plus} isDisabled={lines.length >= 100} onPress={() => setDraft({ ...draft, lines: [...lines, noLine] })}>
          {say('orders.add-line')}
        </Button>
        <output className="figures">{say('orders.sum', { amount: money({ amountMinor: sum, currency }) })}</output>
      </div>
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

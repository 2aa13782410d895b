import { Plus, Trash2 } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { minorOf, money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { CurrenciesDocument } from './orders.generated.ts'

/** A line of an order or an invoice, as it is typed. */
export interface Line {
  readonly name: string
  readonly quantity: string
  readonly amount: string
}

/** A line that nobody has filled in yet. */
export const noLine: Line = { name: '', quantity: '1', amount: '' }

const common = ['EUR', 'USD', 'GBP', 'CHF']
const isQuantity = (text: string) => /^[1-9]\d{0,5}$/.test(text.trim())

/** Lines as the graph takes them; null while one of them is not complete. */
export function lineInputs(lines: readonly Line[], currency: string): { name: string; quantity: number; unitAmountMinor: string }[] | null {
  const amounts = lines.map(({ amount }) => minorOf(amount, currency))
  if (lines.some(({ name, quantity }, at) => name.trim() === '' || !isQuantity(quantity) || amounts[at] === null)) return null
  return lines.map(({ name, quantity }, at) => ({ name: name.trim(), quantity: Number(quantity), unitAmountMinor: amounts[at]! }))
}

/** Currency and lines of something that is sold, with what they come to. */
export function LineFields({
  currency,
  lines,
  isTried,
  onChange,
}: {
  readonly currency: string
  readonly lines: readonly Line[]
  /** Whether it was tried to send them, so that what is missing is said. */
  readonly isTried: boolean
  onChange(changes: { readonly currency?: string; readonly lines?: readonly Line[] }): void
}) {
  const { data } = useRead(CurrenciesDocument, {})
  const codes = (data?.paymentCurrencies ?? []).flatMap(each => each?.code ?? [])
  const offered = [...new Set([currency, ...common.filter(code => codes.includes(code)), ...codes])]
  const change = (at: number, changes: Partial<Line>) => onChange({ lines: lines.map((line, each) => (each === at ? { ...line, ...changes } : line)) })
  const amounts = lines.map(({ amount }) => minorOf(amount, currency))
  const sum = lines.reduce((total, { quantity }, at) => total + BigInt(amounts[at] ?? 0) * BigInt(isQuantity(quantity) ? quantity.trim() : 0), 0n)
  return (
    <>
      <Select
        label={say('orders.currency')}
        value={currency}
        onChange={id => onChange({ currency: id })}
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
              onPress={() => onChange({ lines: lines.filter((_, each) => each !== at) })}
            />
          )}
        </fieldset>
      ))}
      <div className="actions">
        <Button icon={Plus} isDisabled={lines.length >= 100} onPress={() => onChange({ lines: [...lines, noLine] })}>
          {say('orders.add-line')}
        </Button>
        <output className="figures">{say('orders.sum', { amount: money({ amountMinor: sum, currency }) })}</output>
      </div>
    </>
  )
}

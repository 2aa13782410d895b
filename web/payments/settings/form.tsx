import { Plus, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { minorOf } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { CurrenciesDocument } from '../orders/orders.generated.ts'
import { type PaymentSettingsFormFragment, UpdatePaymentSettingsDocument } from './settings.generated.ts'
import { daysOf, settingsOf, type Values, valuesOf } from './values.ts'

const texts = ['checkoutMinutes', 'invoiceDueDays', 'reminderDays'] as const
const modes = ['AUTOMATIC', 'MANUAL'] as const

/** Changes the settings of payments, for those who may; everybody else reads them. */
export function SettingsForm({ settings, reload }: { readonly settings: PaymentSettingsFormFragment; reload(): void }) {
  const once = useOnce()
  const mayWrite = useRights().may('payments:settings.write')
  const [{ error, fetching }, update] = useMutation(UpdatePaymentSettingsDocument)
  const [values, setValues] = useState(() => valuesOf(settings))
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const change = (changes: Partial<Values>) => setValues({ ...values, ...changes })
  async function save(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    const fields = settingsOf(values)
    if (!fields) return
    const { data } = await update({ input: { ...fields, expectedVersion: settings.version, idempotencyKey: once } })
    if (!data?.updatePaymentSettings) return
    toast({ sentence: say('settings.saved') })
    reload()
  }
  const wrongOf = (field: (typeof texts)[number]) => {
    if (problem?.field === field) return problem.sentence
    if (!isTried) return null
    if (field === 'reminderDays') return daysOf(values.reminderDays) === null ? say('settings.no-days') : null
    return /^\d{1,4}$/.test(values[field].trim()) ? null : say('settings.no-number')
  }
  const isAtField = texts.some(field => problem?.field === field)
  return (
    <form className="form" onSubmit={event => void save(event)} noValidate>
      <Currency label={say('settings.currency')} value={values.defaultCurrency} mayWrite={mayWrite} onChange={defaultCurrency => change({ defaultCurrency })} />
      {mayWrite ? (
        <Select
          label={say('settings.capture')}
          value={values.captureMode}
          onChange={id => change({ captureMode: id as Values['captureMode'] })}
          choices={modes.map(id => ({ id, name: say(`capture.${id}`) }))}
        />
      ) : (
        <Field label={say('settings.capture')} value={say(`capture.${values.captureMode}`)} onChange={() => {}} readOnly />
      )}
      {texts.map(field => (
        <Field
          key={field}
          label={say(`settings.${field}`)}
          hint={say(`settings-hint.${field}`)}
          inputMode={field === 'reminderDays' ? 'decimal' : 'numeric'}
          value={values[field]}
          onChange={text => change({ [field]: text })}
          wrong={wrongOf(field)}
          readOnly={!mayWrite}
        />
      ))}
      <Thresholds of={values.thresholds} isTried={isTried} mayWrite={mayWrite} onChange={thresholds => change({ thresholds })} />
      {problem && !isAtField && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {mayWrite && (
        <div className="actions">
          <Button kind="primary" type="submit" isDisabled={fetching}>
            {say('action.save')}
          </Button>
        </div>
      )}
    </form>
  )
}

/** One of the currencies in which money is counted; fixed for who may not change it. */
function Currency({
  label,
  value,
  mayWrite,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly mayWrite: boolean
  onChange(code: string): void
}) {
  const { data } = useRead(CurrenciesDocument, {}, { pause: !mayWrite })
  if (!mayWrite) return <Field label={label} value={value} onChange={onChange} readOnly />
  const codes = new Set([value, ...(data?.paymentCurrencies ?? []).flatMap(each => each?.code ?? [])])
  return <Select label={label} value={value} onChange={onChange} choices={[...codes].map(code => ({ id: code, name: code }))} />
}

/** Amounts above which a refund waits for a second person, a line each currency. */
function Thresholds({
  of,
  isTried,
  mayWrite,
  onChange,
}: {
  readonly of: Values['thresholds']
  readonly isTried: boolean
  readonly mayWrite: boolean
  onChange(thresholds: Values['thresholds']): void
}) {
  const put = (at: number, changes: Partial<Values['thresholds'][number]>) => onChange(of.map((each, other) => (other === at ? { ...each, ...changes } : each)))
  return (
    <fieldset className="form">
      <legend>{say('settings.thresholds')}</legend>
      <p className="quiet small">{say('settings.thresholds-hint')}</p>
      {of.map(({ amount, currency }, at) => (
        <fieldset key={at} className="line">
          <legend>{say('settings.threshold', { number: at + 1 })}</legend>
          <Currency label={say('orders.currency')} value={currency} mayWrite={mayWrite} onChange={code => put(at, { currency: code })} />
          <Field
            label={say('settings.above')}
            inputMode="decimal"
            value={amount}
            onChange={text => put(at, { amount: text })}
            wrong={isTried && minorOf(amount, currency) === null ? say('orders.no-amount') : null}
            readOnly={!mayWrite}
          />
          {mayWrite && (
            <Button
              kind="quiet"
              icon={Trash2}
              name={say('settings.remove-threshold', { number: at + 1 })}
              onPress={() => onChange(of.filter((_, other) => other !== at))}
            />
          )}
        </fieldset>
      ))}
      {mayWrite && (
        <div className="actions">
          <Button icon={Plus} onPress={() => onChange([...of, { currency: 'EUR', amount: '' }])}>
            {say('settings.add-threshold')}
          </Button>
        </div>
      )}
    </fieldset>
  )
}
